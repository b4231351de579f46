//! How a run is stopped from outside, as whoever keeps it sees it.

use async_trait::async_trait;
use interrupts::life::Evidence;
use interrupts::store::CheckpointId;
use routing_core::{NodeId, StopScope};

/// What becomes of a run that has stopped as it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It can be resumed.
    Paused,
    /// It is over.
    Cancelled,
}

/// The stops of a run: which of its nodes they reach, and what follows when they have taken hold.
///
/// Implemented by whoever keeps the run for its process; a run that nobody keeps is stopped by the scope
/// that it is executed in, and paused.
#[async_trait]
pub trait RunControl: Send + Sync {
    /// The scope of a node, which stops with those of all nodes above it and of the run.
    fn scope_of(&self, node: &NodeId) -> StopScope;

    /// Why a node is to be cut off, where it is. Its scope is stopped then.
    fn cut_off(&self, _node: &NodeId) -> Option<String> {
        None
    }

    /// The node and all below it have ended, because it was cut off. Called once it is recorded.
    async fn was_cut_off(&self, _node: &NodeId) {}

    /// All of the run has stopped, and that is recorded in the checkpoint. Acknowledges the stops with the
    /// evidence, and says what becomes of the run.
    async fn stopped(&self, _checkpoint: Option<CheckpointId>, _evidence: Evidence) -> Stopped {
        Stopped::Paused
    }
}

/// A run that only its own scope stops.
pub(crate) struct OnlyScope(pub(crate) StopScope);

#[async_trait]
impl RunControl for OnlyScope {
    fn scope_of(&self, _node: &NodeId) -> StopScope {
        self.0.child()
    }
}
