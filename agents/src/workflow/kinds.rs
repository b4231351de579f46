//! What the workflow knows of each kind of agent: its place in the tree, and the field that leads forward.

use crate::agent_kind::AgentKind;

/// The field in which every agent raises an interrupt.
pub(crate) const INTERRUPT_FIELD: &str = "interruptRequest";

/// The fields that call another node which comes back to its caller.
const CALLS: [&str; 3] = ["contextManagerRequest", "reviewRequest", "mergerRequest"];

/// Whether the field calls a node that comes back, so that the caller keeps its turn.
pub(crate) fn comes_back(field: &str) -> bool {
    CALLS.contains(&field)
}

/// A node's place in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreePosition {
    /// The first node of the run.
    Root,
    /// Always below this kind.
    Below(AgentKind),
    /// Below its caller.
    BelowCaller,
}

/// The place of a kind's nodes in the tree, and the last part of their ids.
pub(crate) fn place(kind: AgentKind) -> (TreePosition, &'static str) {
    use AgentKind as Kind;
    match kind {
        Kind::Orchestrator => (TreePosition::Root, "orchestrator"),
        Kind::DiscoveryOrchestrator => (TreePosition::Below(Kind::Orchestrator), "discovery"),
        Kind::PlanningOrchestrator => (TreePosition::Below(Kind::Orchestrator), "planning"),
        Kind::TicketOrchestrator => (TreePosition::Below(Kind::Orchestrator), "tickets"),
        Kind::OrchestratorCollector => (TreePosition::Below(Kind::Orchestrator), "collector"),
        Kind::DiscoveryDispatch => (TreePosition::Below(Kind::DiscoveryOrchestrator), "dispatch"),
        Kind::PlanningDispatch => (TreePosition::Below(Kind::PlanningOrchestrator), "dispatch"),
        Kind::TicketDispatch => (TreePosition::Below(Kind::TicketOrchestrator), "dispatch"),
        Kind::DiscoveryCollector => (
            TreePosition::Below(Kind::DiscoveryOrchestrator),
            "collector",
        ),
        Kind::PlanningCollector => (TreePosition::Below(Kind::PlanningOrchestrator), "collector"),
        Kind::TicketCollector => (TreePosition::Below(Kind::TicketOrchestrator), "collector"),
        Kind::ReviewAgent => (TreePosition::BelowCaller, "review"),
        Kind::MergerAgent => (TreePosition::BelowCaller, "merger"),
        Kind::ContextManager => (TreePosition::BelowCaller, "context"),
        Kind::DiscoveryAgent => (TreePosition::Below(Kind::DiscoveryDispatch), "worker"),
        Kind::PlanningAgent => (TreePosition::Below(Kind::PlanningDispatch), "worker"),
        Kind::TicketAgent => (TreePosition::Below(Kind::TicketDispatch), "worker"),
    }
}

/// The field that leads the work forward: the one that a node is told to fill instead of yet another interrupt.
/// `has_tickets` says whether the last phase has its result.
pub(crate) fn forward_field(kind: AgentKind, has_tickets: bool) -> &'static str {
    use AgentKind as Kind;
    match kind {
        Kind::Orchestrator if has_tickets => "collectorRequest",
        Kind::Orchestrator => "discoveryOrchestratorRequest",
        Kind::DiscoveryOrchestrator | Kind::PlanningOrchestrator | Kind::TicketOrchestrator => {
            "agentRequests"
        }
        Kind::DiscoveryDispatch => "collectorRequest",
        Kind::PlanningDispatch => "planningCollectorRequest",
        Kind::TicketDispatch => "ticketCollectorRequest",
        Kind::OrchestratorCollector
        | Kind::DiscoveryCollector
        | Kind::PlanningCollector
        | Kind::TicketCollector => "collectorResult",
        Kind::DiscoveryAgent | Kind::PlanningAgent | Kind::TicketAgent => "agentResult",
        Kind::ReviewAgent => "reviewResult",
        Kind::MergerAgent => "mergerResult",
        // It depends on the caller; the schema names the one way back.
        Kind::ContextManager => "the request of the node that called you",
    }
}

/// Whether a kind collects what a phase brought, so that reviews and merges come back to it.
pub(crate) fn is_collector(kind: AgentKind) -> bool {
    matches!(
        kind,
        AgentKind::OrchestratorCollector
            | AgentKind::DiscoveryCollector
            | AgentKind::PlanningCollector
            | AgentKind::TicketCollector
    )
}
