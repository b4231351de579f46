//! Which of several workers takes a run, and which one hands a run over so that all have their share. Each worker works
//! that out by itself, from what all have said: it is a hint, and the store decides who owns a run.

use std::cmp::Ordering;

use jiff::Timestamp;
use routing_core::RunId;

use crate::digest::Digest;
use crate::label::Labels;
use crate::names::OwnerName;
use crate::store::{WorkerRow, WorkerState};

/// The workers, as all of them have said that they stand.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    workers: Vec<WorkerRow>,
}

impl Fleet {
    /// These workers.
    pub fn new(workers: Vec<WorkerRow>) -> Self {
        Self { workers }
    }

    /// These workers, one of which stands otherwise by now.
    pub fn with(&self, name: &OwnerName, state: WorkerState) -> Self {
        let others = self.workers.iter().filter(|it| it.name != *name);
        let own = WorkerRow {
            name: name.clone(),
            state,
            until: Timestamp::MAX,
        };
        Self::new(others.cloned().chain([own]).collect())
    }

    /// How many workers that have what a run needs go before this one in taking it; `None` where this one does not take
    /// it: it is unknown, has no room, or not what the run needs.
    ///
    /// Runs are spread over the workers in proportion to their free slots by weighted rendezvous hashing (Thaler and
    /// Ravishankar, 1998; Schindelhauer and Schomaker, 2005): all come to the same order for a run, whatever they have
    /// heard of other runs.
    pub fn rank(&self, run: RunId, needs: &Labels, name: &OwnerName) -> Option<usize> {
        let fits =
            |worker: &&WorkerRow| worker.state.free() > 0 && worker.state.labels.cover(needs);
        let fitting = || self.workers.iter().filter(fits);
        let own = score(fitting().find(|worker| worker.name == *name)?, run);
        let goes_before = |worker: &&WorkerRow| {
            let order = score(worker, run).total_cmp(&own);
            order == Ordering::Greater || (order == Ordering::Equal && worker.name < *name)
        };
        Some(fitting().filter(goes_before).count())
    }

    /// Whether a worker hands one of its runs over now: it has more than its share, others have less than theirs, and no
    /// fuller one goes before it. `needs` are those of the run, so only workers that have them count.
    ///
    /// As many workers hand a run over at a time as there are places below the share, so none that takes one comes above
    /// it, and all come to rest.
    pub fn hands_over(&self, needs: &Labels, name: &OwnerName) -> bool {
        let fitting = || {
            let all = self.workers.iter();
            all.filter(|worker| worker.state.labels.cover(needs))
        };
        let sum = |of: fn(&WorkerRow) -> u32| fitting().map(|it| u64::from(of(it))).sum::<u64>();
        let (taken, slots) = (sum(|it| it.state.taken), sum(|it| it.state.slots));
        let share = |worker: &WorkerRow| u64::from(worker.state.slots) * taken / slots.max(1);
        let places: u64 = fitting()
            .map(|it| share(it).saturating_sub(it.state.taken.into()))
            .sum();
        let surplus =
            |worker: &WorkerRow| u64::from(worker.state.taken).saturating_sub(share(worker));
        let Some(own) = fitting().find(|worker| worker.name == *name) else {
            return false;
        };
        let before = fitting().filter(|other| {
            let order = surplus(other).cmp(&surplus(own));
            order == Ordering::Greater || (order == Ordering::Equal && other.name < *name)
        });
        surplus(own) > 0 && (before.count() as u64) < places
    }
}

/// How well a run goes to a worker: the best has it.
fn score(worker: &WorkerRow, run: RunId) -> f64 {
    let run = run.to_string();
    let digest = Digest::of_parts([run.as_bytes(), worker.name.as_str().as_bytes()]);
    let mut first = [0; 4];
    first.copy_from_slice(&digest.bytes()[..4]);
    // Between 0 and 1, and neither of them.
    let part = (f64::from(u32::from_be_bytes(first)) + 0.5) / (f64::from(u32::MAX) + 1.0);
    -f64::from(worker.state.free()) / part.ln()
}

#[cfg(test)]
mod tests;
