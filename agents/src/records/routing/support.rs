//! Routing of the nodes that others call, back to whoever called.

use interrupt_router::Routing;

use crate::agent_kind::RouteType;
use crate::records::{
    ContextManagerInterruptRequest, ContextManagerRoutingRequest, DiscoveryAgentRequests,
    DiscoveryCollectorRequest, DiscoveryOrchestratorRequest, MergerInterruptRequest, MergerRequest,
    MergerResult, OrchestratorCollectorRequest, OrchestratorRequest, PlanningAgentRequests,
    PlanningCollectorRequest, PlanningOrchestratorRequest, ReviewInterruptRequest, ReviewRequest,
    ReviewResult, TicketAgentRequests, TicketCollectorRequest, TicketOrchestratorRequest,
};

/// What a review leads to.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct ReviewRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<ReviewInterruptRequest>,
    /// The review.
    pub review_result: Option<ReviewResult>,
    /// Back to the orchestrator's collector.
    #[route(agent_type = RouteType::OrchestratorCollector, returns)]
    pub orchestrator_collector_request: Option<OrchestratorCollectorRequest>,
    /// Back to the discovery collector.
    #[route(agent_type = RouteType::DiscoveryCollector, returns)]
    pub discovery_collector_request: Option<DiscoveryCollectorRequest>,
    /// Back to the planning collector.
    #[route(agent_type = RouteType::PlanningCollector, returns)]
    pub planning_collector_request: Option<PlanningCollectorRequest>,
    /// Back to the ticket collector.
    #[route(agent_type = RouteType::TicketCollector, returns)]
    pub ticket_collector_request: Option<TicketCollectorRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// What a merge leads to.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct MergerRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<MergerInterruptRequest>,
    /// The merged work.
    pub merger_result: Option<MergerResult>,
    /// Back to the orchestrator's collector.
    #[route(agent_type = RouteType::OrchestratorCollector, returns)]
    pub orchestrator_collector_request: Option<OrchestratorCollectorRequest>,
    /// Back to the discovery collector.
    #[route(agent_type = RouteType::DiscoveryCollector, returns)]
    pub discovery_collector_request: Option<DiscoveryCollectorRequest>,
    /// Back to the planning collector.
    #[route(agent_type = RouteType::PlanningCollector, returns)]
    pub planning_collector_request: Option<PlanningCollectorRequest>,
    /// Back to the ticket collector.
    #[route(agent_type = RouteType::TicketCollector, returns)]
    pub ticket_collector_request: Option<TicketCollectorRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// Where the found context goes: back to whoever missed it.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct ContextManagerResultRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<ContextManagerInterruptRequest>,
    /// Back to the orchestrator.
    #[route(agent_type = RouteType::Orchestrator, returns)]
    pub orchestrator_request: Option<OrchestratorRequest>,
    /// Back to the discovery orchestrator.
    #[route(agent_type = RouteType::DiscoveryOrchestrator, returns)]
    pub discovery_orchestrator_request: Option<DiscoveryOrchestratorRequest>,
    /// Back to the planning orchestrator.
    #[route(agent_type = RouteType::PlanningOrchestrator, returns)]
    pub planning_orchestrator_request: Option<PlanningOrchestratorRequest>,
    /// Back to the ticket orchestrator.
    #[route(agent_type = RouteType::TicketOrchestrator, returns)]
    pub ticket_orchestrator_request: Option<TicketOrchestratorRequest>,
    /// Back to the review agent.
    #[route(agent_type = RouteType::ReviewAgent, returns)]
    pub review_request: Option<ReviewRequest>,
    /// Back to the merger agent.
    #[route(agent_type = RouteType::MergerAgent, returns)]
    pub merger_request: Option<MergerRequest>,
    /// Back to the orchestrator's collector.
    #[route(agent_type = RouteType::OrchestratorCollector, returns)]
    pub orchestrator_collector_request: Option<OrchestratorCollectorRequest>,
    /// Back to the discovery collector.
    #[route(agent_type = RouteType::DiscoveryCollector, returns)]
    pub discovery_collector_request: Option<DiscoveryCollectorRequest>,
    /// Back to the planning collector.
    #[route(agent_type = RouteType::PlanningCollector, returns)]
    pub planning_collector_request: Option<PlanningCollectorRequest>,
    /// Back to the ticket collector.
    #[route(agent_type = RouteType::TicketCollector, returns)]
    pub ticket_collector_request: Option<TicketCollectorRequest>,
    /// Back to the discovery workers.
    #[route(agent_type = RouteType::DiscoveryDispatch, returns)]
    pub discovery_agent_requests: Option<DiscoveryAgentRequests>,
    /// Back to the planning workers.
    #[route(agent_type = RouteType::PlanningDispatch, returns)]
    pub planning_agent_requests: Option<PlanningAgentRequests>,
    /// Back to the ticket workers.
    #[route(agent_type = RouteType::TicketDispatch, returns)]
    pub ticket_agent_requests: Option<TicketAgentRequests>,
}
