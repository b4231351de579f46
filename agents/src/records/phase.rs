//! The phases of the workflow.

use std::fmt::{self, Display};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A phase of the workflow.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Phase {
    /// Finding out what is there.
    Discovery,
    /// Turning what was found into tickets.
    Planning,
    /// Doing the tickets.
    Ticket,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Discovery, Self::Planning, Self::Ticket];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Discovery => "DISCOVERY",
            Self::Planning => "PLANNING",
            Self::Ticket => "TICKET",
        }
    }

    /// The phase after this one, or `None` after the last.
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Discovery => Some(Self::Planning),
            Self::Planning => Some(Self::Ticket),
            Self::Ticket => None,
        }
    }
}

impl Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
