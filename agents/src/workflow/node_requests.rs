//! Which request goes to which kind of node, and what that node answers with.

use interrupt_router::Routing;
use serde::Serialize;

use crate::agent_kind::AgentKind;
use crate::records::{
    ContextManagerResultRouting, ContextManagerRoutingRequest, DiscoveryAgentRequest,
    DiscoveryAgentRequests, DiscoveryAgentRouting, DiscoveryCollectorRequest,
    DiscoveryCollectorRouting, DiscoveryDispatchRouting, DiscoveryOrchestratorRequest,
    DiscoveryOrchestratorRouting, Draft, MergerRequest, MergerRouting,
    OrchestratorCollectorRequest, OrchestratorCollectorRouting, OrchestratorRequest,
    OrchestratorRouting, PlanningAgentRequest, PlanningAgentRequests, PlanningAgentRouting,
    PlanningCollectorRequest, PlanningCollectorRouting, PlanningDispatchRouting,
    PlanningOrchestratorRequest, PlanningOrchestratorRouting, ReturnTo, ReviewRequest,
    ReviewRouting, Summaries, TicketAgentRequest, TicketAgentRequests, TicketAgentRouting,
    TicketCollectorRequest, TicketCollectorRouting, TicketDispatchRouting,
    TicketOrchestratorRequest, TicketOrchestratorRouting,
};

/// A request that one kind of node takes.
pub(crate) trait NodeRequest: Draft {
    /// The node's kind.
    const KIND: AgentKind;

    /// What the node answers.
    type Routing: Routing;

    /// What our code adds to the request.
    fn carried(summaries: &Summaries, caller: AgentKind) -> Self::Carried;

    /// The collector to which the request says that its answer goes back.
    fn return_to(&self) -> Option<AgentKind> {
        None
    }
}

/// A request with work for several workers.
pub(crate) trait Batch: NodeRequest {
    /// The work of one worker.
    type Work: Serialize + Clone + PartialEq + Send + Sync;

    /// What a worker answers.
    type WorkerRouting: Routing;

    /// The workers' kind.
    const WORKER: AgentKind;

    /// The work, one entry for each worker.
    fn work(&self) -> &[Self::Work];
}

macro_rules! stations {
    ($($draft:ident => $kind:ident, $routing:ident;)*) => {$(
        impl NodeRequest for $draft {
            const KIND: AgentKind = AgentKind::$kind;
            type Routing = $routing;

            fn carried(summaries: &Summaries, _caller: AgentKind) -> Self::Carried {
                summaries.into()
            }
        }
    )*};
}

stations! {
    OrchestratorRequest => Orchestrator, OrchestratorRouting;
    DiscoveryOrchestratorRequest => DiscoveryOrchestrator, DiscoveryOrchestratorRouting;
    PlanningOrchestratorRequest => PlanningOrchestrator, PlanningOrchestratorRouting;
    TicketOrchestratorRequest => TicketOrchestrator, TicketOrchestratorRouting;
    OrchestratorCollectorRequest => OrchestratorCollector, OrchestratorCollectorRouting;
    DiscoveryCollectorRequest => DiscoveryCollector, DiscoveryCollectorRouting;
    PlanningCollectorRequest => PlanningCollector, PlanningCollectorRouting;
    TicketCollectorRequest => TicketCollector, TicketCollectorRouting;
    DiscoveryAgentRequests => DiscoveryDispatch, DiscoveryDispatchRouting;
    PlanningAgentRequests => PlanningDispatch, PlanningDispatchRouting;
    TicketAgentRequests => TicketDispatch, TicketDispatchRouting;
}

/// The collector that a request names.
fn collector(return_to: ReturnTo) -> AgentKind {
    match return_to {
        ReturnTo::OrchestratorCollector => AgentKind::OrchestratorCollector,
        ReturnTo::DiscoveryCollector => AgentKind::DiscoveryCollector,
        ReturnTo::PlanningCollector => AgentKind::PlanningCollector,
        ReturnTo::TicketCollector => AgentKind::TicketCollector,
    }
}

impl NodeRequest for ReviewRequest {
    const KIND: AgentKind = AgentKind::ReviewAgent;
    type Routing = ReviewRouting;

    fn carried(summaries: &Summaries, _caller: AgentKind) -> Self::Carried {
        summaries.into()
    }

    fn return_to(&self) -> Option<AgentKind> {
        Some(collector(self.return_to))
    }
}

impl NodeRequest for MergerRequest {
    const KIND: AgentKind = AgentKind::MergerAgent;
    type Routing = MergerRouting;

    fn carried(summaries: &Summaries, _caller: AgentKind) -> Self::Carried {
        summaries.into()
    }

    fn return_to(&self) -> Option<AgentKind> {
        Some(collector(self.return_to))
    }
}

impl NodeRequest for ContextManagerRoutingRequest {
    const KIND: AgentKind = AgentKind::ContextManager;
    type Routing = ContextManagerResultRouting;

    fn carried(_summaries: &Summaries, caller: AgentKind) -> Self::Carried {
        caller.into()
    }
}

macro_rules! batches {
    ($($batch:ident => $worker:ident, $work:ident, $routing:ident;)*) => {$(
        impl Batch for $batch {
            type Work = $work;
            type WorkerRouting = $routing;
            const WORKER: AgentKind = AgentKind::$worker;

            fn work(&self) -> &[$work] {
                &self.requests
            }
        }
    )*};
}

batches! {
    DiscoveryAgentRequests => DiscoveryAgent, DiscoveryAgentRequest, DiscoveryAgentRouting;
    PlanningAgentRequests => PlanningAgent, PlanningAgentRequest, PlanningAgentRouting;
    TicketAgentRequests => TicketAgent, TicketAgentRequest, TicketAgentRouting;
}
