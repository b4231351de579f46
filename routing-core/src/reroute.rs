//! Where a supervisor wants an interrupt's answer to go: the states of a reroute, and the changes between them.
//!
//! A reroute is stored before its agent is told, bound to the interrupt that answers it, and consumed
//! with the decision, exactly once. Preparing a schema never changes it, so a retry sees the same bytes.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::ids::{DecisionId, EventId, InterruptId};

/// How long a reroute waits for its interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RerouteLimits {
    /// How long it may be pending.
    pub lifetime: SignedDuration,
    /// How many turns its node may take without raising the interrupt.
    pub ignored_turns: u32,
}

impl Default for RerouteLimits {
    /// One hour, and three turns.
    fn default() -> Self {
        Self {
            lifetime: SignedDuration::from_hours(1),
            ignored_turns: 3,
        }
    }
}

/// Why a reroute was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelCause {
    /// Its node ended before it raised an interrupt.
    NodeEnded,
    /// Its node took too many turns without raising an interrupt.
    Ignored,
    /// The interrupt that it was published with has ended before its node raised one: it was withdrawn, say.
    InterruptEnded,
}

/// What became of a reroute.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RerouteState {
    /// It waits for its node to raise an interrupt.
    Pending,
    /// Its node has raised this interrupt.
    Bound {
        /// The interrupt.
        interrupt: InterruptId,
    },
    /// The interrupt's decision has used it. Final.
    Consumed {
        /// The interrupt.
        interrupt: InterruptId,
        /// The decision.
        decision: DecisionId,
    },
    /// It waited too long. Final.
    Expired,
    /// A newer event for its node has replaced it. Final.
    Superseded {
        /// The newer event.
        by: EventId,
    },
    /// It was given up. Final.
    Cancelled {
        /// Why.
        cause: CancelCause,
    },
}

/// What may happen to a reroute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RerouteChange {
    /// Its node raised an interrupt.
    Bind(InterruptId),
    /// The interrupt was decided.
    Consume(DecisionId),
    /// The interrupt ended without a decision.
    Release,
    /// It waited too long.
    Expire,
    /// A newer event came.
    Supersede(EventId),
    /// It is given up.
    Cancel(CancelCause),
}

impl RerouteState {
    /// Whether nothing can happen to it any more.
    pub const fn is_final(&self) -> bool {
        match self {
            Self::Pending | Self::Bound { .. } => false,
            Self::Consumed { .. }
            | Self::Expired
            | Self::Superseded { .. }
            | Self::Cancelled { .. } => true,
        }
    }

    /// The state after a change; `None` if this state does not allow it.
    pub fn after(&self, change: RerouteChange) -> Option<Self> {
        Some(match (self, change) {
            (Self::Pending, RerouteChange::Bind(interrupt)) => Self::Bound { interrupt },
            (Self::Pending, RerouteChange::Expire) => Self::Expired,
            (Self::Pending, RerouteChange::Supersede(by)) => Self::Superseded { by },
            (Self::Pending, RerouteChange::Cancel(cause)) => Self::Cancelled { cause },
            (Self::Bound { interrupt }, RerouteChange::Consume(decision)) => Self::Consumed {
                interrupt: *interrupt,
                decision,
            },
            (Self::Bound { .. }, RerouteChange::Release) => Self::Pending,
            (_state, _change) => return None,
        })
    }
}
