//! Who each agent is.

use crate::agent_kind::AgentKind;

/// What an agent of this kind is, does and must not do.
pub(super) fn role(kind: AgentKind) -> &'static str {
    use AgentKind as Kind;
    match kind {
        Kind::Orchestrator => include_str!("orchestrator.md"),
        Kind::DiscoveryOrchestrator => include_str!("discovery_orchestrator.md"),
        Kind::PlanningOrchestrator => include_str!("planning_orchestrator.md"),
        Kind::TicketOrchestrator => include_str!("ticket_orchestrator.md"),
        Kind::ReviewAgent => include_str!("review_agent.md"),
        Kind::MergerAgent => include_str!("merger_agent.md"),
        Kind::ContextManager => include_str!("context_manager.md"),
        Kind::OrchestratorCollector => include_str!("orchestrator_collector.md"),
        Kind::DiscoveryCollector => include_str!("discovery_collector.md"),
        Kind::PlanningCollector => include_str!("planning_collector.md"),
        Kind::TicketCollector => include_str!("ticket_collector.md"),
        Kind::DiscoveryDispatch => include_str!("discovery_dispatch.md"),
        Kind::PlanningDispatch => include_str!("planning_dispatch.md"),
        Kind::TicketDispatch => include_str!("ticket_dispatch.md"),
        Kind::DiscoveryAgent => include_str!("discovery_agent.md"),
        Kind::PlanningAgent => include_str!("planning_agent.md"),
        Kind::TicketAgent => include_str!("ticket_agent.md"),
    }
}
