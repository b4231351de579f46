//! What came of an interrupt, for the code that raised it.

use routing_core::handler::{DecidedBy, FilledBy};
use routing_core::review::Answer;
use routing_core::{EventId, InterruptRoutes};

use super::exit::Exit;
use crate::run::RunError;

/// What came of an interrupt, for the code that raised it.
#[derive(Debug, Clone)]
pub enum Decided<R: InterruptRoutes> {
    /// It leaves along one route.
    Routed(Box<Routed<R>>),
    /// It could not be carried out, or was taken back: the agent goes on without it.
    Refused {
        /// Why.
        reason: String,
    },
}

/// An interrupt that leaves along one route.
#[derive(Debug, Clone)]
pub struct Routed<R: InterruptRoutes> {
    /// The record with exactly one field set: the request of the route that was decided.
    pub routing: R,
    /// Where it leads.
    pub target: R::AgentType,
    /// Who decided.
    pub decided_by: DecidedBy,
    /// Who filled in the request.
    pub filled_by: FilledBy,
    /// The answer.
    pub answer: Answer,
    /// The supervisor's event that has set the target, if one has.
    pub reroute: Option<EventId>,
}

impl<R: InterruptRoutes> Decided<R> {
    /// The one route that was decided.
    ///
    /// # Errors
    ///
    /// Fails the run if the interrupt was refused.
    pub fn routed(self) -> Result<Routed<R>, Exit> {
        match self {
            Self::Routed(routed) => Ok(*routed),
            Self::Refused { reason } => {
                Err(RunError::of_workflow(RefusedInterrupt { reason }).into())
            }
        }
    }
}

/// An interrupt could not be carried out.
#[derive(Debug, thiserror::Error)]
#[error("an interrupt was refused: {reason}")]
struct RefusedInterrupt {
    reason: String,
}
