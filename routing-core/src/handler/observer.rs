//! What happens to an interrupt, reported as it happens.

use crate::answer::AnswerError;
use crate::ids::InterruptId;
use crate::review::{Answer, Pause, Question, Resume};

use super::{DecidedBy, FilledBy};
use crate::verdict::Verdict;

/// A moment in the life of an interrupt.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum LifecycleEvent<'a> {
    /// A reroute event is bound to the interrupt.
    Bound {
        /// The event's id.
        event: &'a str,
        /// The agent type that the answer goes to.
        target: &'static str,
    },
    /// A person is asked.
    Asked(&'a Question),
    /// An answer came and does not fit; the person is asked again.
    Refused {
        /// What is wrong with it.
        problem: &'a str,
    },
    /// An answer came.
    Answered(&'a Answer),
    /// The run waits to be resumed.
    Paused(&'a Pause),
    /// The run was resumed.
    Resumed(&'a Resume),
    /// A reviewing model answered.
    Reviewed {
        /// How sure it was, in percent.
        confidence: u8,
        /// How sure it had to be.
        threshold: u8,
    },
    /// A model's answer does not fit; it is asked again where corrections are left.
    Corrected {
        /// Which correction follows, from 1.
        correction: u32,
        /// What is wrong.
        error: &'a AnswerError,
    },
    /// The interrupt leaves along one route.
    Resolved {
        /// Where it came from: an agent type.
        origin: &'static str,
        /// Where it goes: an agent type.
        target: &'static str,
        /// Who decided.
        decided_by: DecidedBy,
        /// Who filled in the request.
        filled_by: FilledBy,
        /// The reroute event that was consumed.
        reroute: Option<&'a str>,
    },
    /// The answer is no, or none came in time: no route is taken.
    Declined {
        /// What was decided.
        verdict: Verdict,
        /// Who decided.
        decided_by: DecidedBy,
    },
    /// The run ends.
    Stopped {
        /// Why.
        reason: &'a str,
    },
    /// The run is forked.
    Branched {
        /// Why.
        reason: &'a str,
    },
    /// The node ends.
    Pruned {
        /// Why.
        reason: &'a str,
    },
}

/// Notified of what happens to interrupts. Called from the handler, in order for each interrupt; must not block.
pub type InterruptObserver = dyn Fn(InterruptId, LifecycleEvent<'_>) + Send + Sync;
