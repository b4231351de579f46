//! Routing of the discovery phase.

use interrupt_router::Routing;

use crate::agent_kind::RouteType;
use crate::records::{
    ContextManagerRoutingRequest, DiscoveryAgentInterruptRequest, DiscoveryAgentRequests,
    DiscoveryAgentResult, DiscoveryCollectorInterruptRequest, DiscoveryCollectorRequest,
    DiscoveryCollectorResult, DiscoveryDispatchInterruptRequest,
    DiscoveryOrchestratorInterruptRequest, MergerRequest, OrchestratorRequest, ReviewRequest,
};

/// Where the discovery orchestrator goes next.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct DiscoveryOrchestratorRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<DiscoveryOrchestratorInterruptRequest>,
    /// Starts workers that look into the parts.
    #[route(agent_type = RouteType::DiscoveryDispatch)]
    pub agent_requests: Option<DiscoveryAgentRequests>,
    /// Has the findings put together.
    #[route(agent_type = RouteType::DiscoveryCollector)]
    pub collector_request: Option<DiscoveryCollectorRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// Where the discovery dispatch goes when its workers are done.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct DiscoveryDispatchRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<DiscoveryDispatchInterruptRequest>,
    /// Has the findings put together.
    #[route(agent_type = RouteType::DiscoveryCollector)]
    pub collector_request: Option<DiscoveryCollectorRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// What a discovery worker answers.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct DiscoveryAgentRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<DiscoveryAgentInterruptRequest>,
    /// The worker's result.
    pub agent_result: Option<DiscoveryAgentResult>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// Where the discovery collector goes next.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct DiscoveryCollectorRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<DiscoveryCollectorInterruptRequest>,
    /// The phase's result, and whether to go on.
    pub collector_result: Option<DiscoveryCollectorResult>,
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
