//! A run in a worker: taken, renewed, worked on, passivated while it asks, or lost.

use std::time::Duration;

use interrupts::life::{RunState, State};

use super::feeds::FeedNews;
use super::orphan_scan::Attempt;
use super::run::Waits;
use super::{ASKS_FOR_ORPHANS, Model, ModelEvent, Read, Remedy, Source, Write};

/// A sweep for what is past its deadline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweep {
    process: usize,
    began: Duration,
    /// Whether it checks for all open interrupts if their runs have ended.
    asks_for_orphans: bool,
    /// The renewal that it follows: the run, its epoch, and the number of the renewal.
    after: Option<(usize, u64, u64)>,
}

impl Model<'_> {
    /// A worker asks for a run, and gets it, unless another one was faster.
    pub(super) fn owns(&mut self, attempt: Attempt) -> bool {
        let Attempt { process, run, .. } = attempt;
        let now = self.timeline.now();
        let row = &mut self.runs[run];
        let is_free = !row.is_held(now) && row.waits.is_some();
        if !is_free || self.processes[process].is_gone {
            self.attempts.1 += 1;
            self.gives_up(attempt);
            return false;
        }
        self.attempts.0 += 1;
        if row.worker.is_some() {
            self.figures.two_owners += 1;
        }
        row.lease = Some((process, now + self.times.lease));
        row.epoch += 1;
        (row.renewals, row.renewed, row.worker) = (0, now, Some(process));
        row.is_leaving = false;
        if let Some((since, why)) = row.waits.take() {
            match why {
                Waits::Decided => self.figures.resumed.add(now - since),
                Waits::Orphaned => self.figures.taken.add(now - since),
                Waits::HandedOver => self.figures.handed_over.add(now - since),
            }
        }
        let epoch = row.epoch;
        self.orphaned.remove(&run);
        self.plan_renewal(process, run, epoch);
        self.timeline
            .after(self.times.lease, ModelEvent::LeaseEnds(run, epoch, 0));
        self.write(process, Write::Begin(run, epoch));
        self.attempt_ends(attempt);
        false
    }

    pub(super) fn begins(&mut self, run: usize, epoch: u64) -> bool {
        let row = &mut self.runs[run];
        self.at_work += usize::from(row.state != RunState::Running);
        row.becomes(RunState::Running);
        let has_asked = row.question.is_some();
        self.tell(FeedNews::Moved(run));
        // If it has no owner, it was lost between the two transactions.
        if let Some(process) = self.owner(run, epoch) {
            match has_asked {
                // Its last owner was lost before it could park it.
                true => self.write(process, Write::Rest(run, epoch)),
                false => self.steps_on(run),
            }
            self.moves(process);
        }
        true
    }

    /// The process that works on a run in this epoch, if it still does.
    pub(super) fn owner(&self, run: usize, epoch: u64) -> Option<usize> {
        let row = &self.runs[run];
        row.worker.filter(|_process| row.epoch == epoch)
    }

    /// Plans the next renewal of a run: a heartbeat from now, or with the others of its process.
    fn plan_renewal(&mut self, process: usize, run: usize, epoch: u64) {
        let (now, heartbeat) = (self.timeline.now(), self.times.heartbeat);
        let share = process as f64 / self.processes.len() as f64;
        let ahead = heartbeat.mul_f64(share).as_nanos() as u64;
        let beat = heartbeat.as_nanos() as u64;
        let since_beat = (now.as_nanos() as u64 + beat - ahead) % beat;
        let wait = match self.settings.remedy {
            Remedy::Before | Remedy::Today => heartbeat,
            Remedy::OneIsTold => Duration::from_nanos(beat - since_beat),
        };
        self.timeline.after(wait, ModelEvent::Renews(run, epoch));
    }

    pub(super) fn renews(&mut self, run: usize, epoch: u64) {
        if let Some(process) = self.owner(run, epoch) {
            let now = self.timeline.now();
            self.write(process, Write::Renew(run, epoch, now));
        }
    }

    pub(super) fn renewal_is_committed(&mut self, run: usize, epoch: u64, began: Duration) -> bool {
        if let Some(process) = self.owner(run, epoch) {
            self.runs[run].lease = Some((process, self.timeline.now() + self.times.lease));
            // The interrupts that it got with the run.
            let read = Read::Renewed(run, epoch, began);
            self.read(process, Source::Renewals, self.costs.read, read);
        }
        false
    }

    pub(super) fn has_renewed(&mut self, run: usize, epoch: u64, began: Duration) {
        let Some(process) = self.owner(run, epoch) else {
            return;
        };
        self.figures.renewal.add(self.timeline.now() - began);
        let row = &mut self.runs[run];
        (row.renewed, row.renewals) = (began, row.renewals + 1);
        let renewals = row.renewals;
        self.sweeps(process, Some((run, epoch, renewals)));
        // The renewal waits no longer than this, but the store still answers the question.
        let patience = self.times.heartbeat;
        self.timeline
            .after(patience, ModelEvent::SweptFor(run, epoch, renewals));
    }

    fn sweeps(&mut self, process: usize, after: Option<(usize, u64, u64)>) {
        let (now, it) = (self.timeline.now(), &mut self.processes[process]);
        let is_shared = self.settings.remedy == Remedy::OneIsTold && after.is_some();
        let asks_for_orphans = self.settings.remedy == Remedy::Before || now >= it.asks_for_orphans;
        let mut sweep = Sweep {
            process,
            began: now,
            asks_for_orphans,
            after,
        };
        if is_shared && now.saturating_sub(it.swept) < self.times.heartbeat / 2 {
            // One sweep for all runs of the process.
            sweep.asks_for_orphans = false;
            self.has_swept(sweep);
            return;
        }
        it.swept = now;
        let asked = match asks_for_orphans {
            true => self.open as f64 * self.costs.swept,
            false => 0.0,
        };
        // What is due, what is orphaned, and rules.
        let work = 3.0 * self.costs.read + asked;
        self.read(process, Source::Sweeps, work, Read::Swept(sweep));
    }

    pub(super) fn has_swept(&mut self, sweep: Sweep) {
        let now = self.timeline.now();
        // The renewal waits no longer than this, and has not got the answer then.
        let is_heard = sweep.after.is_none() || now - sweep.began < self.times.heartbeat;
        if sweep.asks_for_orphans && is_heard {
            self.processes[sweep.process].asks_for_orphans = now + ASKS_FOR_ORPHANS;
        }
        if let Some((run, epoch, renewals)) = sweep.after {
            self.goes_on_renewing(run, epoch, renewals);
        }
    }

    pub(super) fn server_sweeps(&mut self, server: usize) {
        self.sweeps(server, None);
        self.timeline
            .after(self.settings.server_sweep, ModelEvent::Sweeps(server));
    }

    /// The sweep after a renewal is done or was given up; the next renewal follows.
    pub(super) fn goes_on_renewing(&mut self, run: usize, epoch: u64, renewals: u64) {
        let Some(process) = self.owner(run, epoch) else {
            return;
        };
        if self.runs[run].renewals == renewals {
            // The other of the two comes too late.
            self.runs[run].renewals += 1;
            let row = &self.runs[run];
            let (ends, renewals) = (row.renewed + self.times.lease, row.renewals);
            self.timeline
                .at(ends, ModelEvent::LeaseEnds(run, epoch, renewals));
            self.plan_renewal(process, run, epoch);
        }
    }

    /// A process stops work on a run whose lease it could not renew in time.
    pub(super) fn lease_ends(&mut self, run: usize, epoch: u64, renewals: u64) {
        if self.owner(run, epoch).is_none() || self.runs[run].renewals != renewals {
            return;
        }
        self.figures.lost += 1;
        self.is_orphaned(run);
    }

    /// No live process has the run any more; in the store, its lease is still valid for a while.
    pub(super) fn is_orphaned(&mut self, run: usize) {
        let row = &mut self.runs[run];
        row.waits = Some((self.timeline.now(), Waits::Orphaned));
        self.orphaned.insert(run);
        if let Some(process) = row.worker.take() {
            self.processes[process].here -= 1;
            self.has_moved(process);
        }
    }

    /// Begins the work until the next question.
    pub(super) fn steps_on(&mut self, run: usize) {
        let mean = self.settings.step.mul_f64(self.settings.steps);
        let work = self.random.until_next(mean).as_secs_f64();
        let steps = (work / self.settings.step.as_secs_f64()).ceil().max(1.0);
        self.runs[run].steps = steps as u32;
        let first = self.random.up_to(self.settings.step);
        let epoch = self.runs[run].epoch;
        self.timeline.after(first, ModelEvent::Steps(run, epoch));
    }

    pub(super) fn ends_step(&mut self, run: usize, epoch: u64) {
        if let Some(process) = self.owner(run, epoch) {
            self.write(process, Write::Step(run, epoch, self.settings.writes));
        }
    }

    /// One write of a step is committed.
    pub(super) fn goes_on_writing(&mut self, run: usize, epoch: u64, left: u32) -> bool {
        if let Some(process) = self.owner(run, epoch) {
            if left > 1 {
                self.write(process, Write::Step(run, epoch, left - 1));
                return true;
            }
            let row = &mut self.runs[run];
            row.steps = row.steps.saturating_sub(1);
            match row.steps {
                0 => self.write(process, Write::Ask(run, epoch)),
                _more if row.is_leaving => self.write(process, Write::Leave(run, epoch)),
                _more => self
                    .timeline
                    .after(self.settings.step, ModelEvent::Steps(run, epoch)),
            }
        }
        true
    }

    /// A question of an agent: published, delivered and acknowledged in one transaction, and waiting for a person.
    pub(super) fn has_asked(&mut self, run: usize, epoch: u64) -> bool {
        let Some(process) = self.owner(run, epoch) else {
            return false;
        };
        self.open += 1;
        self.figures.interrupts[1] += 1;
        let states = [
            State::Requested,
            State::Delivered,
            State::Acknowledged,
            State::AwaitingReview,
        ];
        self.runs[run].question_becomes(&states);
        self.tell(FeedNews::Reached(run));
        self.write(process, Write::Rest(run, epoch));
        true
    }

    /// The run waits for people, and its slot is free.
    pub(super) fn rests(&mut self, run: usize, epoch: u64) -> bool {
        let Some(process) = self.owner(run, epoch) else {
            // It was lost with an open question: its next owner finds that, and parks it.
            return false;
        };
        let row = &mut self.runs[run];
        row.becomes(RunState::Waiting);
        (row.lease, row.worker) = (None, None);
        self.at_work -= 1;
        self.waiting.push(run);
        self.processes[process].here -= 1;
        self.tell(FeedNews::Moved(run));
        // Whether something has come meanwhile.
        self.read(process, Source::Work, 5.0 * self.costs.read, Read::Nothing);
        self.moves(process);
        true
    }
}
