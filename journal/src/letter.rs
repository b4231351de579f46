//! What is put into the box of a node, and where it came from.

use interrupts::EffectId;
use routing_core::model::Message;
use routing_core::{EventId, InterruptId};
use serde::{Deserialize, Serialize};

/// Where a letter came from. The same origin is the same letter: it is put into a box once.
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
    /// Whoever resumed the run gave it along, and an earlier version kept it only here.
    Given {
        /// The epoch of the run that began then.
        epoch: u64,
    },
    /// Whoever resumed the run gave it along, and an earlier version kept it without a place.
    Input {
        /// The entry of the journal that holds it.
        effect: EffectId,
    },
    /// Whoever resumed the run gave it along.
    Said {
        /// Its place in the journal, in whatever run.
        place: String,
    },
}

/// A letter for a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    #[serde(flatten)]
    pub origin: Origin,
    pub text: String,
}

impl Letter {
    /// What the node is told.
    pub fn message(&self) -> Message {
        Message::user(self.text.clone())
    }

    /// The place among all messages of the one that it brings, where it brings one.
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
    pub letters: Vec<Letter>,
}
