//! Routing of the two nodes that lead and end the workflow.

use interrupt_router::Routing;

use crate::agent_kind::RouteType;
use crate::records::{
    ContextManagerRoutingRequest, DiscoveryOrchestratorRequest, MergerRequest,
    OrchestratorCollectorInterruptRequest, OrchestratorCollectorRequest,
    OrchestratorCollectorResult, OrchestratorInterruptRequest, ReviewRequest,
};

/// Where the orchestrator goes next.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct OrchestratorRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<OrchestratorInterruptRequest>,
    /// Ends the workflow.
    #[route(agent_type = RouteType::OrchestratorCollector)]
    pub collector_request: Option<OrchestratorCollectorRequest>,
    /// Starts discovery.
    #[route(agent_type = RouteType::DiscoveryOrchestrator)]
    pub discovery_orchestrator_request: Option<DiscoveryOrchestratorRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// How the workflow ends.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct OrchestratorCollectorRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<OrchestratorCollectorInterruptRequest>,
    /// The workflow's result.
    pub collector_result: Option<OrchestratorCollectorResult>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
    /// Has something reviewed first.
    #[route(agent_type = RouteType::ReviewAgent)]
    pub review_request: Option<ReviewRequest>,
    /// Has conflicting work merged first.
    #[route(agent_type = RouteType::MergerAgent)]
    pub merger_request: Option<MergerRequest>,
}
