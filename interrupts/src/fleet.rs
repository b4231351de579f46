//! Which of several workers takes a run, and which one hands a run over so that all have their share. Each worker
//! computes that by itself from what all have reported: it is a hint, and the store decides who owns a run.

use std::cmp::Ordering;

use interrupt_router::RunId;
use jiff::Timestamp;

use crate::digest::Digest;
use crate::label::Labels;
use crate::names::OwnerName;
use crate::store::{WorkerRow, WorkerState};

/// The workers, with the states that they have reported.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    workers: Vec<WorkerRow>,
}

impl Fleet {
    /// These workers.
    pub fn new(workers: Vec<WorkerRow>) -> Self {
        Self { workers }
    }

    /// These workers, one of which is in another state by now.
    pub fn with(&self, name: &OwnerName, state: WorkerState) -> Self {
        let others = self.workers.iter().filter(|it| it.name != *name);
        let own = WorkerRow {
            name: name.clone(),
            state,
            until: Timestamp::MAX,
        };
        Self::new(others.cloned().chain([own]).collect())
    }

    /// How many workers that have what a run needs go before this one in taking it; `None` if this one does not take
    /// it: it is unknown, has no room, or lacks what the run needs.
    ///
    /// Runs are spread over the workers in proportion to their free slots by weighted rendezvous hashing (Thaler and
    /// Ravishankar, 1998; Schindelhauer and Schomaker, 2005): all compute the same order for a run, regardless of what
    /// they know of other runs. A run that was let go goes first to workers that have less than their share, in
    /// proportion to what they lack.
    pub fn rank(&self, run: FreeRun, needs: &Labels, name: &OwnerName) -> Option<usize> {
        let mut part = self.part(needs);
        if let FreeRun::LetGo(_) = run {
            // No worker holds this run right now, but shares are computed over all runs.
            part.taken += 1;
        }
        let score = |worker: &WorkerRow| match run {
            FreeRun::New(run) => (0.0, score(worker, run, worker.state.free())),
            FreeRun::LetGo(run) => {
                let lacks = u32::try_from(part.lacks(worker)).unwrap_or(u32::MAX);
                (
                    score(worker, run, lacks),
                    score(worker, run, worker.state.free()),
                )
            }
        };
        let has_room = |worker: &&&WorkerRow| worker.state.free() > 0;
        let fitting = || part.workers.iter().filter(has_room);
        let own = score(fitting().find(|worker| worker.name == *name)?);
        let goes_before = |worker: &&&WorkerRow| {
            let other = score(worker);
            let order = other.0.total_cmp(&own.0).then(other.1.total_cmp(&own.1));
            order == Ordering::Greater || (order == Ordering::Equal && worker.name < *name)
        };
        Some(fitting().filter(goes_before).count())
    }

    /// Whether a worker hands one of its runs over now: it has more than its share, others have less than theirs, and no
    /// fuller one goes before it. `needs` are those of the run, so only workers that have them count.
    ///
    /// As many workers hand a run over at a time as there are places below the share, so no worker that takes one comes
    /// above its share, and the fleet settles.
    pub fn hands_over(&self, needs: &Labels, name: &OwnerName) -> bool {
        let part = self.part(needs);
        let places: u64 = part.workers.iter().map(|worker| part.lacks(worker)).sum();
        let Some(own) = part.workers.iter().find(|worker| worker.name == *name) else {
            return false;
        };
        let surplus = part.surplus(own);
        let before = part.workers.iter().filter(|other| {
            let order = part.surplus(other).cmp(&surplus);
            order == Ordering::Greater || (order == Ordering::Equal && other.name < *name)
        });
        surplus > 0 && (before.count() as u64) < places
    }

    /// The workers that have what a run needs.
    fn part(&self, needs: &Labels) -> FleetPart<'_> {
        let all = self.workers.iter();
        let workers: Vec<_> = all
            .filter(|worker| worker.state.labels.cover(needs))
            .collect();
        let sum = |of: fn(&WorkerRow) -> u32| workers.iter().map(|it| u64::from(of(it))).sum();
        FleetPart {
            taken: sum(|it| it.state.taken),
            slots: sum(|it| it.state.slots),
            workers,
        }
    }
}

/// A run that no process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreeRun {
    /// A run that begins, or that something has arrived for.
    New(RunId),
    /// A run that a worker was working on and has let go.
    LetGo(RunId),
}

/// Some of the workers.
struct FleetPart<'fleet> {
    workers: Vec<&'fleet WorkerRow>,
    /// How many runs they have together.
    taken: u64,
    slots: u64,
}

impl FleetPart<'_> {
    /// How many whole runs a worker would have if all used the same part of their slots.
    fn share(&self, worker: &WorkerRow) -> u64 {
        u64::from(worker.state.slots) * self.taken / self.slots.max(1)
    }

    fn lacks(&self, worker: &WorkerRow) -> u64 {
        self.share(worker).saturating_sub(worker.state.taken.into())
    }

    fn surplus(&self, worker: &WorkerRow) -> u64 {
        u64::from(worker.state.taken).saturating_sub(self.share(worker))
    }
}

/// How well a run suits a worker of this weight: the highest score takes it.
fn score(worker: &WorkerRow, run: RunId, weight: u32) -> f64 {
    let run = run.to_string();
    let digest = Digest::of_parts([run.as_bytes(), worker.name.as_str().as_bytes()]);
    let mut first = [0; 4];
    first.copy_from_slice(&digest.bytes()[..4]);
    // Strictly between 0 and 1.
    let part = (f64::from(u32::from_be_bytes(first)) + 0.5) / (f64::from(u32::MAX) + 1.0);
    -f64::from(weight) / part.ln()
}

#[cfg(test)]
mod tests;
