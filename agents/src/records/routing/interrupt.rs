//! Where an interrupt may go: to any of the fourteen nodes.

use interrupt_router::Routing;

use crate::agent_kind::RouteType;
use crate::records::{
    ContextManagerRoutingRequest, DiscoveryAgentRequests, DiscoveryCollectorRequest,
    DiscoveryOrchestratorRequest, MergerRequest, OrchestratorCollectorRequest, OrchestratorRequest,
    PlanningAgentRequests, PlanningCollectorRequest, PlanningOrchestratorRequest, ReviewRequest,
    TicketAgentRequests, TicketCollectorRequest, TicketOrchestratorRequest,
};

/// Where the workflow goes on after an interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
#[routing(agent_types = RouteType)]
pub struct InterruptRouting {
    /// Goes on at the orchestrator.
    #[route(marker = OrchestratorRoute, agent_type = Orchestrator)]
    pub orchestrator_request: Option<OrchestratorRequest>,
    /// Goes on at the discovery orchestrator.
    #[route(marker = DiscoveryRoute, agent_type = DiscoveryOrchestrator)]
    pub discovery_orchestrator_request: Option<DiscoveryOrchestratorRequest>,
    /// Goes on at the planning orchestrator.
    #[route(marker = PlanningRoute, agent_type = PlanningOrchestrator)]
    pub planning_orchestrator_request: Option<PlanningOrchestratorRequest>,
    /// Goes on at the ticket orchestrator.
    #[route(marker = TicketRoute, agent_type = TicketOrchestrator)]
    pub ticket_orchestrator_request: Option<TicketOrchestratorRequest>,
    /// Goes on at the review agent.
    #[route(marker = ReviewRoute, agent_type = ReviewAgent)]
    pub review_request: Option<ReviewRequest>,
    /// Goes on at the merger agent.
    #[route(marker = MergerRoute, agent_type = MergerAgent)]
    pub merger_request: Option<MergerRequest>,
    /// Goes on at the context manager.
    #[route(marker = ContextManagerRoute, agent_type = ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
    /// Goes on at the orchestrator's collector.
    #[route(marker = OrchestratorCollectorRoute, agent_type = OrchestratorCollector)]
    pub orchestrator_collector_request: Option<OrchestratorCollectorRequest>,
    /// Goes on at the discovery collector.
    #[route(marker = DiscoveryCollectorRoute, agent_type = DiscoveryCollector)]
    pub discovery_collector_request: Option<DiscoveryCollectorRequest>,
    /// Goes on at the planning collector.
    #[route(marker = PlanningCollectorRoute, agent_type = PlanningCollector)]
    pub planning_collector_request: Option<PlanningCollectorRequest>,
    /// Goes on at the ticket collector.
    #[route(marker = TicketCollectorRoute, agent_type = TicketCollector)]
    pub ticket_collector_request: Option<TicketCollectorRequest>,
    /// Goes on at the discovery workers.
    #[route(marker = DiscoveryDispatchRoute, agent_type = DiscoveryDispatch)]
    pub discovery_agent_requests: Option<DiscoveryAgentRequests>,
    /// Goes on at the planning workers.
    #[route(marker = PlanningDispatchRoute, agent_type = PlanningDispatch)]
    pub planning_agent_requests: Option<PlanningAgentRequests>,
    /// Goes on at the ticket workers.
    #[route(marker = TicketDispatchRoute, agent_type = TicketDispatch)]
    pub ticket_agent_requests: Option<TicketAgentRequests>,
}
