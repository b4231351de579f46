//! The state of a run on a server, read beside the following: no reading delays a signal, a key or an event.

use std::sync::Arc;

use interrupt_router::RunId;
use interrupts::life::{Family, Interrupt, State};
use interrupts::store::{Filter, Run};

use super::{Beside, FollowedRun};
use crate::backend::Backend;
use crate::exit::{Exit, Failure};
use crate::listing;

/// The state of the run.
pub(super) struct RunStatusSnapshot {
    pub(super) run: Run,
    pub(super) waiting: Vec<Interrupt>,
}

impl RunStatusSnapshot {
    /// Reads it.
    pub(super) async fn of(remote: &dyn Backend, run: RunId) -> Result<Self, Failure> {
        let filter = Filter {
            run: Some(run),
            node: None,
            states: vec![State::AwaitingReview],
        };
        let waiting = listing::interrupts(remote, &filter).await?;
        let found = remote.run(run).await?;
        let gone = || Failure::new(Exit::NotFound, format!("there is no run {run}"));
        Ok(Self {
            run: found.ok_or_else(gone)?,
            waiting,
        })
    }

    /// The questions that can be answered now.
    pub(super) fn questions(&self) -> impl Iterator<Item = &Interrupt> {
        self.waiting.iter().filter(|interrupt| {
            interrupt.family() == Family::Question && interrupt.held_by.is_none()
        })
    }
}

/// Which readings are under way.
#[derive(Default)]
pub(super) struct Readings {
    is_reading: bool,
    /// An event has arrived since the reading began.
    is_outdated: bool,
    /// The count of actions here: a reading from before the last one would repeat an answered question.
    done: u64,
}

/// A reading, and whether it is current.
pub(super) struct RunReading {
    pub(super) standing: RunStatusSnapshot,
    /// No event has arrived since it was read.
    pub(super) is_newest: bool,
}

impl FollowedRun {
    /// Reads the state of the run, or reads it again after the reading that is under way: however many events a slow
    /// connection brings meanwhile, one more reading is enough.
    pub(super) fn look(&mut self) {
        if self.readings.is_reading {
            self.readings.is_outdated = true;
            return;
        }
        self.readings.is_reading = true;
        let (remote, run) = (Arc::clone(&self.remote), self.run);
        let (done, sender) = (self.readings.done, self.beside.0.clone());
        tokio::task::spawn_local(async move {
            let standing = RunStatusSnapshot::of(&*remote, run).await;
            // The receiver is gone if the following has ended.
            let _ = sender.send(Beside::Seen(done, Box::new(standing)));
        });
    }

    /// Something was done here: earlier readings are outdated.
    pub(super) fn look_anew(&mut self) {
        self.readings.done += 1;
        self.look();
    }

    /// Takes a reading if it is still valid, and begins the next one if one is wanted.
    pub(super) fn seen(
        &mut self,
        done: u64,
        standing: Result<RunStatusSnapshot, Failure>,
    ) -> Result<Option<RunReading>, Failure> {
        let standing = standing?;
        let is_newest = !std::mem::take(&mut self.readings.is_outdated);
        self.readings.is_reading = false;
        if !is_newest {
            self.look();
        }
        let is_worth = done == self.readings.done;
        Ok(is_worth.then_some(RunReading {
            standing,
            is_newest,
        }))
    }
}
