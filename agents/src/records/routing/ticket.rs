//! Routing of the ticket phase.

use interrupt_router::Routing;

use crate::agent_kind::RouteType;
use crate::records::{
    ContextManagerRoutingRequest, MergerRequest, OrchestratorRequest, ReviewRequest,
    TicketAgentInterruptRequest, TicketAgentRequests, TicketAgentResult,
    TicketCollectorInterruptRequest, TicketCollectorRequest, TicketCollectorResult,
    TicketDispatchInterruptRequest, TicketOrchestratorInterruptRequest,
};

/// Where the ticket orchestrator goes next.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct TicketOrchestratorRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<TicketOrchestratorInterruptRequest>,
    /// Starts workers that do the tickets.
    #[route(agent_type = RouteType::TicketDispatch)]
    pub agent_requests: Option<TicketAgentRequests>,
    /// Has the work checked.
    #[route(agent_type = RouteType::TicketCollector)]
    pub collector_request: Option<TicketCollectorRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// Where the ticket dispatch goes when its workers are done.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct TicketDispatchRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<TicketDispatchInterruptRequest>,
    /// Has the work checked.
    #[route(agent_type = RouteType::TicketCollector)]
    pub ticket_collector_request: Option<TicketCollectorRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// What a ticket worker answers.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct TicketAgentRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<TicketAgentInterruptRequest>,
    /// The worker's result.
    pub agent_result: Option<TicketAgentResult>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// Where the ticket collector goes next.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct TicketCollectorRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<TicketCollectorInterruptRequest>,
    /// The phase's result, and whether to go on.
    pub collector_result: Option<TicketCollectorResult>,
    /// Hands the workflow back to the orchestrator.
    #[route(agent_type = RouteType::Orchestrator)]
    pub orchestrator_request: Option<OrchestratorRequest>,
    /// Has something reviewed first.
    #[route(agent_type = RouteType::ReviewAgent)]
    pub review_request: Option<ReviewRequest>,
    /// Has conflicting work merged first.
    #[route(agent_type = RouteType::MergerAgent)]
    pub merger_request: Option<MergerRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}
