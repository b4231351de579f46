//! How work that may be interrupted ended.

use crate::stop::StopReason;

/// How a call ended. A failed call is an `Err`; an interrupted one is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<T, P = ()> {
    /// It ran to its end.
    Completed(T),
    /// It was stopped on request.
    Interrupted {
        /// Who stopped it, how, and why.
        reason: StopReason,
        /// What had already arrived.
        partial: P,
    },
}

impl<T, P> Outcome<T, P> {
    /// Changes the value of a completed outcome.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U, P> {
        match self {
            Self::Completed(value) => Outcome::Completed(change(value)),
            Self::Interrupted { reason, partial } => Outcome::Interrupted { reason, partial },
        }
    }

    /// The value, or `None` if the call was interrupted.
    pub fn completed(self) -> Option<T> {
        match self {
            Self::Completed(value) => Some(value),
            Self::Interrupted { .. } => None,
        }
    }
}
