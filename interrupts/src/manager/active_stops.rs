//! Stops as the registry knows them: requested, in force, and still to be recorded.

use interrupt_router::{InterruptId, InterruptType, StopReason};

use super::tree::Reach;

/// A stop that is in force on a run.
#[derive(Debug, Clone)]
pub(crate) struct ActiveStop {
    /// Its interrupt.
    pub(crate) id: InterruptId,
    /// How far it reaches.
    pub(crate) reach: Reach,
    /// What it does.
    pub(crate) interrupt_type: InterruptType,
    /// Why; its mode is the hardest that was requested.
    pub(crate) reason: StopReason,
    /// Whether it has taken effect and is recorded, so that it does not stop a new turn.
    pub(crate) settled: bool,
    /// Whether it was found in the store when the run was taken.
    pub(crate) found: bool,
}

/// A stop that is requested.
#[derive(Debug, Clone)]
pub(crate) struct RequestedStop {
    /// The id that its interrupt gets, if it is a new one.
    pub(crate) id: InterruptId,
    /// How far it reaches.
    pub(crate) reach: Reach,
    /// What it does.
    pub(crate) interrupt_type: InterruptType,
    /// Why.
    pub(crate) reason: StopReason,
    /// Whether it is a request of its own, even if the same stop is under way.
    pub(crate) alone: bool,
}

/// The recording of a request.
pub(crate) trait Job: Clone {
    /// Whether recording this job records the other one too.
    fn covers(&self, other: &Self) -> bool;

    /// Replaces the id of its interrupt, if that is `from`.
    fn rename(&mut self, from: InterruptId, to: InterruptId);
}

/// Whether a stop began or joined one that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopPlacement {
    /// A new interrupt.
    New(InterruptId),
    /// A further request for this one.
    Joined(InterruptId),
}

/// Who records the jobs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recorder {
    /// The keeper of the run.
    OwnedRunState,
    /// The recorder for runs that this process does not own.
    Outside,
}
