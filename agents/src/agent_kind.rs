//! Who takes part: fourteen routes, and the seventeen kinds of agents that belong to them.

use interrupt_router::AgentType;

use crate::records::Phase;

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

/// The level of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RouteLevel {
    /// It leads, or is called by those that lead.
    Orchestrator,
    /// It gathers what others have done.
    Collector,
    /// It starts workers.
    Dispatch,
}

impl RouteLevel {
    /// The name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orchestrator => "orchestrator",
            Self::Collector => "collector",
            Self::Dispatch => "dispatch",
        }
    }
}

impl RouteType {
    /// Its level.
    pub const fn level(self) -> RouteLevel {
        match self {
            Self::Orchestrator
            | Self::DiscoveryOrchestrator
            | Self::PlanningOrchestrator
            | Self::TicketOrchestrator
            | Self::ReviewAgent
            | Self::MergerAgent
            | Self::ContextManager => RouteLevel::Orchestrator,
            Self::OrchestratorCollector
            | Self::DiscoveryCollector
            | Self::PlanningCollector
            | Self::TicketCollector => RouteLevel::Collector,
            Self::DiscoveryDispatch | Self::PlanningDispatch | Self::TicketDispatch => {
                RouteLevel::Dispatch
            }
        }
    }

    /// The phase that it belongs to; `None` if it belongs to all of them.
    pub const fn phase(self) -> Option<Phase> {
        match self {
            Self::DiscoveryOrchestrator | Self::DiscoveryCollector | Self::DiscoveryDispatch => {
                Some(Phase::Discovery)
            }
            Self::PlanningOrchestrator | Self::PlanningCollector | Self::PlanningDispatch => {
                Some(Phase::Planning)
            }
            Self::TicketOrchestrator | Self::TicketCollector | Self::TicketDispatch => {
                Some(Phase::Ticket)
            }
            Self::Orchestrator
            | Self::ReviewAgent
            | Self::MergerAgent
            | Self::ContextManager
            | Self::OrchestratorCollector => None,
        }
    }

    /// The kind of agent that works at this node.
    pub const fn kind(self) -> AgentKind {
        match self {
            Self::Orchestrator => AgentKind::Orchestrator,
            Self::DiscoveryOrchestrator => AgentKind::DiscoveryOrchestrator,
            Self::PlanningOrchestrator => AgentKind::PlanningOrchestrator,
            Self::TicketOrchestrator => AgentKind::TicketOrchestrator,
            Self::ReviewAgent => AgentKind::ReviewAgent,
            Self::MergerAgent => AgentKind::MergerAgent,
            Self::ContextManager => AgentKind::ContextManager,
            Self::OrchestratorCollector => AgentKind::OrchestratorCollector,
            Self::DiscoveryCollector => AgentKind::DiscoveryCollector,
            Self::PlanningCollector => AgentKind::PlanningCollector,
            Self::TicketCollector => AgentKind::TicketCollector,
            Self::DiscoveryDispatch => AgentKind::DiscoveryDispatch,
            Self::PlanningDispatch => AgentKind::PlanningDispatch,
            Self::TicketDispatch => AgentKind::TicketDispatch,
        }
    }
}

impl AgentKind {
    /// Whether agents of this kind are started by a dispatch node, and are no route of their own.
    pub fn is_worker(self) -> bool {
        self.origin_route().kind() != self
    }
}
