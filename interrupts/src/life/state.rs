//! The nine states of an interrupt.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The state of an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Accepted and durable; no worker has it yet.
    Requested,
    /// The run's owner has it, under a lease.
    Delivered,
    /// A stop took effect, or the agent said what it asks.
    Acknowledged,
    /// It waits for a person.
    AwaitingReview,
    /// Decided: the answer goes back to the origin. Final.
    Resolved,
    /// Decided: the answer goes to another target. Final.
    Rerouted,
    /// Its deadline passed; its policy's outcome applies. Final.
    Expired,
    /// Withdrawn, superseded, or its run or node ended. Final.
    Cancelled,
    /// It could not be delivered; an operator may try again.
    DeadLettered,
}

/// A text that names no state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no state of an interrupt")]
pub struct UnknownState {
    given: String,
}

impl State {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 9] = [
        Self::Requested,
        Self::Delivered,
        Self::Acknowledged,
        Self::AwaitingReview,
        Self::Resolved,
        Self::Rerouted,
        Self::Expired,
        Self::Cancelled,
        Self::DeadLettered,
    ];

    /// Whether nothing can happen to it any more.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Resolved | Self::Rerouted | Self::Expired | Self::Cancelled => true,
            Self::Requested
            | Self::Delivered
            | Self::Acknowledged
            | Self::AwaitingReview
            | Self::DeadLettered => false,
        }
    }

    /// Whether it is under way. A dead-lettered interrupt is neither under way nor ended: it waits for an operator.
    pub const fn is_live(self) -> bool {
        match self {
            Self::Requested | Self::Delivered | Self::Acknowledged | Self::AwaitingReview => true,
            Self::Resolved
            | Self::Rerouted
            | Self::Expired
            | Self::Cancelled
            | Self::DeadLettered => false,
        }
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Delivered => "delivered",
            Self::Acknowledged => "acknowledged",
            Self::AwaitingReview => "awaiting_review",
            Self::Resolved => "resolved",
            Self::Rerouted => "rerouted",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::DeadLettered => "dead_lettered",
        }
    }
}

impl Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for State {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        Self::ALL
            .into_iter()
            .find(|state| state.name() == text)
            .ok_or_else(|| UnknownState {
                given: text.to_owned(),
            })
    }
}
