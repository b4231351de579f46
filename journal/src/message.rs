//! The messages in a node's mailbox, and where they came from.

use interrupt_router::model::Message;
use interrupt_router::{EventId, InterruptId};
use interrupts::EffectId;
use serde::{Deserialize, Serialize};

/// Where a message came from. The same origin is the same message: it is put into a mailbox once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Origin {
    /// A supervisor's event.
    Event {
        /// Its id.
        event: EventId,
    },
    /// A message that the store keeps.
    Message {
        /// Its place among all messages.
        position: u64,
    },
    /// The decision with which a paused run was resumed, whose words an earlier version kept nowhere else.
    Resumed {
        /// The interrupt that had paused it.
        interrupt: InterruptId,
    },
    /// Given along when the run was resumed; an earlier version kept it only here.
    Given {
        /// The epoch of the run that began then.
        epoch: u64,
    },
    /// Given along when the run was resumed; an earlier version kept it without a place.
    Input {
        /// Its entry in the journal.
        effect: EffectId,
    },
    /// Given along when the run was resumed.
    Said {
        /// Its place in the journal, the same in every run.
        place: String,
    },
}

/// A message for a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentMessage {
    #[serde(flatten)]
    pub origin: Origin,
    pub text: String,
}

impl AgentMessage {
    /// The message for the node.
    pub fn message(&self) -> Message {
        Message::user(self.text.clone())
    }

    /// The place among all messages of the one that it brings, if it brings one.
    pub const fn message_place(&self) -> Option<u64> {
        match self.origin {
            Origin::Message { position } => Some(position),
            Origin::Event { .. }
            | Origin::Resumed { .. }
            | Origin::Given { .. }
            | Origin::Input { .. }
            | Origin::Said { .. } => None,
        }
    }

    /// New input for a node whose run was resumed.
    pub fn input(origin: Origin, input: &str) -> Self {
        Self {
            origin,
            text: format!("[input]\nThe run goes on with new input:\n{input}"),
        }
    }
}

/// What an agent has read outside of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    pub letters: Vec<AgentMessage>,
}
