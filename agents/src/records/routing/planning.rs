//! Routing of the planning phase.

use interrupt_router::Routing;

use crate::agent_kind::RouteType;
use crate::records::{
    ContextManagerRoutingRequest, MergerRequest, OrchestratorRequest,
    PlanningAgentInterruptRequest, PlanningAgentRequests, PlanningAgentResult,
    PlanningCollectorInterruptRequest, PlanningCollectorRequest, PlanningCollectorResult,
    PlanningDispatchInterruptRequest, PlanningOrchestratorInterruptRequest, ReviewRequest,
};

/// Where the planning orchestrator goes next.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct PlanningOrchestratorRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<PlanningOrchestratorInterruptRequest>,
    /// Starts workers that plan the parts.
    #[route(agent_type = RouteType::PlanningDispatch)]
    pub agent_requests: Option<PlanningAgentRequests>,
    /// Has the plan put together.
    #[route(agent_type = RouteType::PlanningCollector)]
    pub collector_request: Option<PlanningCollectorRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// Where the planning dispatch goes when its workers are done.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct PlanningDispatchRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<PlanningDispatchInterruptRequest>,
    /// Has the plan put together.
    #[route(agent_type = RouteType::PlanningCollector)]
    pub planning_collector_request: Option<PlanningCollectorRequest>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// What a planning worker answers.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct PlanningAgentRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<PlanningAgentInterruptRequest>,
    /// The worker's result.
    pub agent_result: Option<PlanningAgentResult>,
    /// Asks for context that is missing.
    #[route(agent_type = RouteType::ContextManager)]
    pub context_manager_request: Option<ContextManagerRoutingRequest>,
}

/// Where the planning collector goes next.
#[derive(Debug, Clone, PartialEq, Eq, Routing)]
pub struct PlanningCollectorRouting {
    /// Stops here and asks a person, a reviewer or a supervisor.
    pub interrupt_request: Option<PlanningCollectorInterruptRequest>,
    /// The phase's result, and whether to go on.
    pub collector_result: Option<PlanningCollectorResult>,
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
