//! Reroutes as a store keeps them. Their states and changes are those of the core's machine.

use async_trait::async_trait;
use interrupt_router::reroute::RerouteState;
use interrupt_router::{EventId, NodeId, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use crate::names::RouteName;

/// A stored reroute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RerouteRow {
    /// The event that asked for it.
    pub event: EventId,
    /// The run of its node.
    pub run: RunId,
    /// The node that shall interrupt itself.
    pub node: NodeId,
    /// Where it leads.
    pub target: RouteName,
    /// What became of it.
    pub state: RerouteState,
    /// When it expires, while it is pending.
    pub expires_at: Timestamp,
    /// How many turns its node took without raising the interrupt.
    pub ignored_turns: u32,
}

/// Keeps reroutes. They come with the interrupts that name them, are bound by acknowledging and consumed by
/// deciding, each in the interrupt's own transaction; what is left for this port are their other ends.
///
/// At most one is pending and at most one is bound for each node of a run.
#[async_trait]
pub trait Reroutes: Send + Sync {
    /// What became of a reroute.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn reroute(&self, event: &EventId) -> Result<Option<RerouteRow>, StoreError>;

    /// The node took a turn without raising the interrupt. Returns the reroute that is given up, once the
    /// limit of ignored turns is reached.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, the turn was counted or not.
    async fn turn_ignored(
        &self,
        run: RunId,
        node: &NodeId,
    ) -> Result<Option<RerouteRow>, StoreError>;

    /// The node has ended: its pending reroute is cancelled. Returns it.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn node_ended(&self, run: RunId, node: &NodeId)
    -> Result<Option<RerouteRow>, StoreError>;

    /// Expires reroutes that were pending for too long, at most `limit` of them. Returns them.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn expire_reroutes(&self, limit: u32) -> Result<Vec<RerouteRow>, StoreError>;
}
