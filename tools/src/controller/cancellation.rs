//! What came of a cancellation.

use std::time::Duration;

use interrupt_router::StopReason;

use crate::tool::CallId;

/// A call that ran when a cancellation began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedCall {
    /// Its id.
    pub id: CallId,
    /// The tool's name.
    pub tool: String,
    /// From the request to its end; zero if it ended before the request reached it.
    pub took: Duration,
    /// Whether it did not end in time, and was given up.
    pub left_behind: bool,
}

/// What came of a cancellation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancellation {
    /// Why: the reason of the first request, where there were several.
    pub reason: StopReason,
    /// Whether it only waits for the end of a section that must not be interrupted: nothing was stopped yet then.
    pub deferred: bool,
    /// The calls that ran, in the order of their ends.
    pub calls: Vec<StoppedCall>,
}

impl Cancellation {
    pub(super) fn of(reason: StopReason) -> Self {
        Self {
            reason,
            deferred: false,
            calls: Vec::new(),
        }
    }

    pub(super) fn deferred(reason: StopReason) -> Self {
        Self {
            deferred: true,
            ..Self::of(reason)
        }
    }

    /// Whether every call ended in time.
    pub fn all_stopped(&self) -> bool {
        !self.deferred && self.calls.iter().all(|call| !call.left_behind)
    }
}
