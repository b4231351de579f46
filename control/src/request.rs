//! Whom a request concerns, and why it is refused.

use interrupt_router::{InterruptType, NodeId, StopMode};
use interrupts::NameError;
use interrupts::catalogue::{Catalogue, EventError};
use interrupts::life::{Admission, Family, Interrupt};
use interrupts::manager::AgentRoutes;
use interrupts::policy::{Policy, Subject};
use interrupts::store::Run;
use interrupts::{KindName, WorkflowName};

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

/// What sets the terms of a request: a policy, unless the same was requested before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// The policy of where the request is carried out.
    pub(crate) policy: &'a Policy,
    /// The interrupt of the same request, if it was made before.
    pub(crate) known: Option<&'a Interrupt>,
}

impl Terms<'_> {
    /// Sets how long a question may wait and what happens then, or, of a graceful stop, after how many milliseconds it
    /// becomes immediate; `limit_ms` is what the requester said of that. A request that is made again keeps the terms of
    /// the first one.
    pub(crate) fn set(self, admission: &mut Admission, limit_ms: Option<u64>) -> Option<u64> {
        let subject = Subject::of_admission(admission);
        if subject.family() == Family::Stop {
            let of_policy = self.policy.grace(&subject);
            let limit = of_policy.map_or(limit_ms, |grace| {
                grace.map(|grace| u64::try_from(grace.as_millis()).unwrap_or(u64::MAX))
            });
            return limit.filter(|_limit| admission.mode == StopMode::Graceful);
        }
        match self.known {
            Some(first) => first.keep_terms(admission),
            None => self.policy.apply(admission),
        }
        None
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
    /// New input that says nothing.
    #[error("$.input: the input is empty")]
    EmptyInput,
    /// A fork goes on under the catalogue of its run.
    #[error("$.accept_catalogue: not together with a checkpoint")]
    CatalogueOfFork,
    /// Nothing is dropped of a run that goes on.
    #[error("$.drop_pending: only together with a checkpoint")]
    DropsWithoutFork,
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
