//! Stops as the registry knows them: what is asked for, what stands, and what is to be recorded of it.

use routing_core::{InterruptId, InterruptType, StopReason};

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
    /// Why; its mode is the hardest that was asked for.
    pub(crate) reason: StopReason,
    /// Whether it is stopped and recorded, so that a new turn does not stop again.
    pub(crate) settled: bool,
    /// Whether it was found in the store when the run was taken.
    pub(crate) found: bool,
}

/// A stop that is asked for.
#[derive(Debug, Clone)]
pub(crate) struct RequestedStop {
    /// The id that its interrupt gets, where it is a new one.
    pub(crate) id: InterruptId,
    /// How far it reaches.
    pub(crate) reach: Reach,
    /// What it does.
    pub(crate) interrupt_type: InterruptType,
    /// Why.
    pub(crate) reason: StopReason,
    /// Whether it is a request of its own, even where the same stop is under way.
    pub(crate) alone: bool,
}

/// What is to be recorded of a request.
pub(crate) trait Job: Clone {
    /// Whether recording this one records the other one too.
    fn covers(&self, other: &Self) -> bool;

    /// The interrupt that it is about has another id than was thought.
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
    /// The one that keeps the run.
    Keeper,
    /// The one for runs that nobody here keeps.
    Outside,
}
