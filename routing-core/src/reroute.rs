//! Where a supervisor wants an interrupt's answer to go: a small state machine, and the port that keeps it.
//!
//! A reroute is stored before its agent is told, bound to the interrupt that answers it, and consumed
//! with the decision, exactly once. Preparing a schema never changes it, so a retry sees the same bytes.

mod machine;
mod memory;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::agent_type::AgentType;
use crate::event::InterruptRequestEvent;
use crate::ids::{DecisionId, EventId, InterruptId, NodeId, RunId};

pub use machine::{CancelCause, IllegalReroute, RerouteChange, RerouteState};
pub use memory::{InMemoryReroutes, RerouteLimits};

/// A stored reroute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReroute<K: AgentType> {
    /// The event that asked for it.
    pub event: InterruptRequestEvent<K>,
    /// The run of the event's node.
    pub run: RunId,
    /// What became of it.
    pub state: RerouteState,
}

/// What storing an event did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stored {
    /// It waits for an interrupt of its node.
    Pending {
        /// The older event of the node that it replaces.
        superseded: Option<EventId>,
    },
    /// The same event was stored before: nothing changed.
    AlreadyThere,
}

/// Why a store of reroutes did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The event's id belongs to an event with other content.
    #[error("event id `{event}` belongs to another event")]
    OtherContent {
        /// The id.
        event: EventId,
    },
    /// The store cannot be read or written.
    #[error("the store of reroutes is unavailable: {detail}")]
    Unavailable {
        /// What is broken.
        detail: String,
    },
}

/// Why a reroute could not be consumed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConsumeError {
    /// No reroute is bound to the interrupt.
    #[error("no reroute is bound to {interrupt}")]
    NotBound {
        /// The interrupt.
        interrupt: InterruptId,
    },
    /// Another decision consumed it.
    #[error("the reroute of {interrupt} was consumed by {decision}")]
    AlreadyConsumed {
        /// The interrupt.
        interrupt: InterruptId,
        /// The decision that has it.
        decision: DecisionId,
    },
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps reroutes. At most one is pending and at most one is bound for each node of a run.
#[async_trait]
pub trait PendingReroutes<K: AgentType>: Send + Sync {
    /// Stores an event by its run and node. A newer one replaces an older one that is still pending,
    /// which is recorded; while one is bound, the new one waits beside it.
    ///
    /// # Errors
    ///
    /// [`StoreError::OtherContent`] if the id was used for another event.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the event is stored whole or not at all; store it again to be sure.
    async fn store(
        &self,
        run: RunId,
        event: InterruptRequestEvent<K>,
        now: Timestamp,
    ) -> Result<Stored, StoreError>;

    /// Binds the node's pending reroute to an interrupt, and returns what is bound to it.
    /// Called again for the same interrupt, it returns the same reroute.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, the reroute is pending or bound; bind again to see.
    async fn bind(
        &self,
        run: RunId,
        node: &NodeId,
        interrupt: InterruptId,
        now: Timestamp,
    ) -> Result<Option<InterruptRequestEvent<K>>, StoreError>;

    /// Consumes the reroute that is bound to an interrupt, with the decision. Once: the same decision may be submitted
    /// again, another one is refused.
    ///
    /// # Errors
    ///
    /// [`ConsumeError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, the reroute is bound or consumed; consume it again with the same decision.
    async fn consume(
        &self,
        interrupt: InterruptId,
        decision: DecisionId,
    ) -> Result<EventId, ConsumeError>;

    /// Lets go of the reroute that is bound to an interrupt which ended without a decision: it is
    /// pending again, unless a newer one waits in its place, which then supersedes it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn release(&self, interrupt: InterruptId) -> Result<(), StoreError>;

    /// The node took a turn without raising the interrupt. Returns the event that is given up, once the
    /// limit of ignored turns is reached.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, the turn may have been counted or not.
    async fn turn_ignored(&self, run: RunId, node: &NodeId) -> Result<Option<EventId>, StoreError>;

    /// The node has ended: its pending reroutes are cancelled. Returns them.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn node_ended(&self, run: RunId, node: &NodeId) -> Result<Vec<EventId>, StoreError>;

    /// Expires what has waited too long. Returns it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn expire(&self, now: Timestamp) -> Result<Vec<EventId>, StoreError>;

    /// What became of an event; `None` if it was never stored.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn fate(&self, event: &EventId) -> Result<Option<StoredReroute<K>>, StoreError>;
}
