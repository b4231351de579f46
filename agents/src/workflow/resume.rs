//! Another turn for the node that has the turn, of any kind.

use std::future::Future;
use std::pin::Pin;

use super::failure::FlowError;
use super::flow::{Flow, Next};
use super::node::Path;
use super::step::turn;
use crate::agent_kind::AgentKind;
use crate::records::*;

/// What an action gives.
pub(super) type Action<'a> = Pin<Box<dyn Future<Output = Result<Next, FlowError>> + Send + 'a>>;

/// Lets the node that has the turn take it, without a new request.
pub(super) fn resume<'a>(flow: &'a Flow, path: &'a mut Path) -> Action<'a> {
    use AgentKind as Kind;
    let kind = match path.top() {
        Ok(node) => node.kind,
        Err(lost) => return Box::pin(std::future::ready(Err(lost))),
    };
    match kind {
        Kind::Orchestrator => Box::pin(turn::<OrchestratorRouting>(flow, path)),
        Kind::DiscoveryOrchestrator => Box::pin(turn::<DiscoveryOrchestratorRouting>(flow, path)),
        Kind::PlanningOrchestrator => Box::pin(turn::<PlanningOrchestratorRouting>(flow, path)),
        Kind::TicketOrchestrator => Box::pin(turn::<TicketOrchestratorRouting>(flow, path)),
        Kind::ReviewAgent => Box::pin(turn::<ReviewRouting>(flow, path)),
        Kind::MergerAgent => Box::pin(turn::<MergerRouting>(flow, path)),
        Kind::ContextManager => Box::pin(turn::<ContextManagerResultRouting>(flow, path)),
        Kind::OrchestratorCollector => Box::pin(turn::<OrchestratorCollectorRouting>(flow, path)),
        Kind::DiscoveryCollector => Box::pin(turn::<DiscoveryCollectorRouting>(flow, path)),
        Kind::PlanningCollector => Box::pin(turn::<PlanningCollectorRouting>(flow, path)),
        Kind::TicketCollector => Box::pin(turn::<TicketCollectorRouting>(flow, path)),
        Kind::DiscoveryDispatch => Box::pin(turn::<DiscoveryDispatchRouting>(flow, path)),
        Kind::PlanningDispatch => Box::pin(turn::<PlanningDispatchRouting>(flow, path)),
        Kind::TicketDispatch => Box::pin(turn::<TicketDispatchRouting>(flow, path)),
        Kind::DiscoveryAgent => Box::pin(turn::<DiscoveryAgentRouting>(flow, path)),
        Kind::PlanningAgent => Box::pin(turn::<PlanningAgentRouting>(flow, path)),
        Kind::TicketAgent => Box::pin(turn::<TicketAgentRouting>(flow, path)),
    }
}
