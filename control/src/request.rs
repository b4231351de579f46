//! Who makes a request of whom, and why a request is refused.

use interrupts::NameError;
use interrupts::catalogue::{Catalogue, EventError};
use interrupts::life::Actor;
use interrupts::manager::{AgentRoutes, StopCause};
use interrupts::store::Run;
use interrupts::{KindName, WorkflowName};
use routing_core::{InterruptType, NodeId, StopSource};

/// Who asks.
#[derive(Debug, Clone)]
pub struct StopRequester {
    /// By name and role.
    pub actor: Actor,
    /// What kind of source it comes from.
    pub source: StopSource,
    /// What caused it.
    pub cause: StopCause,
}

/// The agent that the request concerns; for a whole run, its first agent.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its run.
    pub run: &'a Run,
    /// Its id.
    pub node: &'a NodeId,
    /// Its kind.
    pub kind: &'a KindName,
    /// The catalogue of its run, if that is known.
    pub catalogue: Option<&'a Catalogue>,
}

impl Target<'_> {
    /// Where its answers go, and where they may go. For a kind missing from the catalogue, answers can only come back.
    pub fn agent_routes(&self) -> AgentRoutes {
        let known = self
            .catalogue
            .and_then(|it| it.agent_routes(Some(self.kind)));
        known.unwrap_or_else(|| AgentRoutes::alone(self.kind))
    }
}

/// Why something cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRequest {
    /// It is a question, which is published as an event.
    #[error("{0} asks a question")]
    Question(InterruptType),
    /// PRUNE leaves an agent out, and a run is more than that.
    #[error("PRUNE concerns an agent, not a whole run")]
    PruneOfRun,
    /// The run is code, and a fork of it would do again what was done.
    #[error("`{workflow}` is code, which is executed from its start: it cannot be forked")]
    Fork {
        /// Its workflow.
        workflow: WorkflowName,
    },
    /// The event does not fit its agent.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The event's id cannot be kept.
    #[error("$.eventId: {0}")]
    EventId(NameError),
    /// It cannot be written down.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
