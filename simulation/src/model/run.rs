//! A run and its question, by the product's own tables of states.

use std::time::Duration;

use interrupts::life::{RunState, State, Transition};

use crate::order::Lots;

/// A run that works, waits for a process, or has been at work since the simulation began. Runs that only wait for
/// people are merely counted.
#[derive(Debug)]
pub(super) struct ModelRun {
    pub(super) state: RunState,
    /// The state of its question, if it has an open one.
    pub(super) question: Option<State>,
    /// The owner in the store, and until when.
    pub(super) lease: Option<(usize, Duration)>,
    /// Counts its owners.
    pub(super) epoch: u64,
    /// The live process that works on it, as that process believes.
    pub(super) worker: Option<usize>,
    /// Counts the renewals in this epoch.
    pub(super) renewals: u64,
    /// When the last renewal began that succeeded.
    pub(super) renewed: Duration,
    /// How many steps are left until it asks.
    pub(super) steps: u32,
    /// Whether its worker hands it over once the step has ended.
    pub(super) is_leaving: bool,
    /// What decides which worker's turn it is to take it, once that was asked.
    pub(super) lots: Option<Lots>,
    /// Since when it waits for a process, and why.
    pub(super) waits: Option<(Duration, Waits)>,
}

/// Why a run waits for a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// Its question was decided.
    Decided,
    /// Its process died or lost it.
    Orphaned,
    /// Its process had more than its share.
    HandedOver,
}

impl ModelRun {
    pub(super) const fn new(state: RunState) -> Self {
        Self {
            state,
            question: None,
            lease: None,
            epoch: 0,
            worker: None,
            renewals: 0,
            renewed: Duration::ZERO,
            steps: 0,
            is_leaving: false,
            lots: None,
            waits: None,
        }
    }

    /// Whether another process would find it owned.
    pub(super) fn is_held(&self, now: Duration) -> bool {
        self.lease.is_some_and(|(_owner, until)| until > now)
    }

    /// Whether it has something to do, and no process.
    pub(super) fn is_free(&self, now: Duration) -> bool {
        self.waits.is_some() && !self.is_held(now)
    }

    /// Makes a change of its state.
    ///
    /// # Panics
    ///
    /// If the product has no such change.
    pub(super) fn becomes(&mut self, next: RunState) {
        assert!(
            self.state == next || self.state.may_become(next),
            "a run is {} and becomes {next}",
            self.state
        );
        self.state = next;
    }

    /// Makes changes of its question.
    ///
    /// # Panics
    ///
    /// If the product's table has no such transition.
    pub(super) fn question_becomes(&mut self, states: &[State]) {
        for &next in states {
            if let Some(from) = self.question {
                assert!(
                    Transition::between(from, next).is_some(),
                    "a question is {from:?} and becomes {next:?}"
                );
            }
            self.question = Some(next);
        }
    }
}
