//! How a run is stopped from outside, as its owner sees it.

use async_trait::async_trait;
use interrupt_router::{NodeId, StopScope};
use interrupts::IdempotencyKey;
use interrupts::life::Evidence;
use interrupts::store::CheckpointId;
use serde::Serialize;

/// What becomes of a run that has stopped as it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStopOutcome {
    /// It can be resumed.
    Paused,
    /// It is over.
    Cancelled,
    /// No one has told it to stop.
    Unasked,
    /// Its process leaves it as it is to another one, which goes on with it.
    Left,
}

/// What ended the work of a run that can go on: its model kept failing for longer than it was retried, or the run
/// reached its step limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The whole chain of causes, the outermost first.
    pub error: String,
    /// The same, one by one.
    pub causes: Vec<String>,
    /// The node that was at work, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What may help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the step limit was hit, and nothing has failed.
    pub limit_hit: bool,
    /// The steps, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepsTaken>,
}

/// The steps of a run that took as many as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StepsTaken {
    /// How many it took, across all processes.
    pub taken: u32,
    /// The limit of all of them.
    pub limit: u32,
}

/// The stops of a run: which of its nodes they reach, and what follows when they have taken effect.
///
/// Implemented by the owner of the run in its process; a run without an owner is stopped by the scope that it is
/// executed in, and paused.
#[async_trait]
pub trait RunControl: Send + Sync {
    /// The scope of a node, which stops with those of all nodes above it and of the run.
    fn scope_of(&self, node: &NodeId) -> StopScope;

    /// A rule denied a call, and wants a person to look: pauses the run. The same key is the same request. Returns once it is
    /// recorded.
    async fn pause_after_denial(&self, _key: IdempotencyKey, _reason: &str) {}

    /// Why a node is to be cut off, if it is. Its scope is stopped then.
    fn cut_off(&self, _node: &NodeId) -> Option<String> {
        None
    }

    /// The node and all below it have ended, because it was cut off. Called once it is recorded.
    async fn was_cut_off(&self, _node: &NodeId) {}

    /// The node and all below it have ended by themselves: a stop of them alone has no effect any more. Called once the
    /// run's own table of nodes says so.
    async fn has_ended(&self, _node: &NodeId) {}

    /// Stops all scopes at once if its process may have lost the run, which another process may have taken while this
    /// one was suspended. Called before something is done that must not be done twice.
    fn stops_where_lost(&self) {}

    /// Whether its process leaves the run to others and nothing else stops it: the run reaches its boundary, and is
    /// left as if its process had died there.
    fn is_left(&self) -> bool {
        false
    }

    /// Whether another process may have the run by now, because its lease could not be renewed: this does not pause the
    /// run.
    fn is_lost(&self) -> bool {
        false
    }

    /// All of the run has stopped, and that is recorded in the checkpoint: because of a stop, or because it waits for
    /// an answer. Acknowledges the stops with the evidence, and says what becomes of the run.
    async fn stopped(
        &self,
        _checkpoint: Option<CheckpointId>,
        _evidence: Evidence,
    ) -> RunStopOutcome {
        RunStopOutcome::Unasked
    }

    /// The run is about to end: entries still missing from its journal are recorded here, because afterwards none can
    /// be.
    async fn concludes(&self) {}

    /// All of the run has ended because of trouble, and it can be resumed. Records the trouble as the stop that
    /// it is, and says what becomes of the run.
    async fn in_trouble(
        &self,
        _trouble: &Trouble,
        _checkpoint: Option<CheckpointId>,
    ) -> RunStopOutcome {
        RunStopOutcome::Paused
    }
}

/// A run that only its own scope stops.
pub struct OnlyScope(pub StopScope);

#[async_trait]
impl RunControl for OnlyScope {
    fn scope_of(&self, _node: &NodeId) -> StopScope {
        self.0.child()
    }
}
