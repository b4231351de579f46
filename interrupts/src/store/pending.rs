//! What a run was told and has not carried out: a fork of it would go on without that.

use std::fmt;

use interrupt_router::{EventId, InterruptId};

use super::WaitingMessages;

/// What a run was told and has not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingInput {
    /// The answer to a question, or what was said with the end of a pause.
    Answer(InterruptId),
    /// What was said to it when it was asked to go on.
    Words,
    /// What a supervisor has asked of one of its agents.
    Reroute(EventId),
    /// Messages that its agents have not read.
    Messages(WaitingMessages),
}

impl fmt::Display for PendingInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(interrupt) => {
                write!(
                    formatter,
                    "the answer to {interrupt} is not carried out yet"
                )
            }
            Self::Words => write!(formatter, "what was said to it is not read yet"),
            Self::Reroute(event) => write!(formatter, "the event {event} is not carried out yet"),
            Self::Messages(waiting) => waiting.fmt(formatter),
        }
    }
}
