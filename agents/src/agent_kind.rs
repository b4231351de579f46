//! Who takes part: fourteen routes, and the seventeen kinds of agents that belong to them.

use routing_core::AgentType;

/// Where an interrupt can be sent: the fourteen node types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
pub enum RouteType {
    /// Leads the whole workflow.
    Orchestrator,
    /// Leads the discovery phase.
    DiscoveryOrchestrator,
    /// Leads the planning phase.
    PlanningOrchestrator,
    /// Leads the ticket phase.
    TicketOrchestrator,
    /// Reviews content for a collector.
    ReviewAgent,
    /// Merges conflicting work for a collector.
    MergerAgent,
    /// Finds missing context for any node.
    ContextManager,
    /// Ends the workflow, or sends it back.
    OrchestratorCollector,
    /// Gathers what discovery found.
    DiscoveryCollector,
    /// Gathers the plan.
    PlanningCollector,
    /// Gathers the finished tickets.
    TicketCollector,
    /// Starts the discovery workers.
    DiscoveryDispatch,
    /// Starts the planning workers.
    PlanningDispatch,
    /// Starts the ticket workers.
    TicketDispatch,
}

/// Who may raise an interrupt: the fourteen node types and the three workers below the dispatch nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
#[agent_type(route = RouteType)]
pub enum AgentKind {
    /// Leads the whole workflow.
    Orchestrator,
    /// Leads the discovery phase.
    DiscoveryOrchestrator,
    /// Leads the planning phase.
    PlanningOrchestrator,
    /// Leads the ticket phase.
    TicketOrchestrator,
    /// Reviews content for a collector.
    ReviewAgent,
    /// Merges conflicting work for a collector.
    MergerAgent,
    /// Finds missing context for any node.
    ContextManager,
    /// Ends the workflow, or sends it back.
    OrchestratorCollector,
    /// Gathers what discovery found.
    DiscoveryCollector,
    /// Gathers the plan.
    PlanningCollector,
    /// Gathers the finished tickets.
    TicketCollector,
    /// Starts the discovery workers.
    DiscoveryDispatch,
    /// Starts the planning workers.
    PlanningDispatch,
    /// Starts the ticket workers.
    TicketDispatch,
    /// Reads one part of the workspace.
    #[agent_type(origin = DiscoveryDispatch)]
    DiscoveryAgent,
    /// Plans one part of the work.
    #[agent_type(origin = PlanningDispatch)]
    PlanningAgent,
    /// Works on one ticket.
    #[agent_type(origin = TicketDispatch)]
    TicketAgent,
}
