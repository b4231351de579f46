//! What agents raise: one payload for each kind of agent, and the sealed enumeration of them.

mod discovery;
mod orchestration;
mod payload;
mod planning;
mod support;
mod ticket;

pub use discovery::{
    DiscoveryAgentInterruptRequest, DiscoveryCollectorInterruptRequest,
    DiscoveryDispatchInterruptRequest, DiscoveryOrchestratorInterruptRequest,
};
pub use orchestration::{OrchestratorCollectorInterruptRequest, OrchestratorInterruptRequest};
pub use planning::{
    PlanningAgentInterruptRequest, PlanningCollectorInterruptRequest,
    PlanningDispatchInterruptRequest, PlanningOrchestratorInterruptRequest,
};
pub use support::{ContextManagerInterruptRequest, MergerInterruptRequest, ReviewInterruptRequest};
pub use ticket::{
    TicketAgentInterruptRequest, TicketCollectorInterruptRequest, TicketDispatchInterruptRequest,
    TicketOrchestratorInterruptRequest,
};

use crate::agent_kind::AgentKind;

/// Any agent's interrupt. Who raised it is known from the variant.
#[derive(Debug, Clone, PartialEq, Eq, interrupt_router::InterruptRequest)]
#[interrupt(kind = AgentKind)]
pub enum InterruptRequest {
    /// Raised by the orchestrator.
    Orchestrator(OrchestratorInterruptRequest),
    /// Raised by the discovery orchestrator.
    DiscoveryOrchestrator(DiscoveryOrchestratorInterruptRequest),
    /// Raised by the planning orchestrator.
    PlanningOrchestrator(PlanningOrchestratorInterruptRequest),
    /// Raised by the ticket orchestrator.
    TicketOrchestrator(TicketOrchestratorInterruptRequest),
    /// Raised by the review agent.
    ReviewAgent(ReviewInterruptRequest),
    /// Raised by the merger agent.
    MergerAgent(MergerInterruptRequest),
    /// Raised by the context manager.
    ContextManager(ContextManagerInterruptRequest),
    /// Raised by the orchestrator's collector.
    OrchestratorCollector(OrchestratorCollectorInterruptRequest),
    /// Raised by the discovery collector.
    DiscoveryCollector(DiscoveryCollectorInterruptRequest),
    /// Raised by the planning collector.
    PlanningCollector(PlanningCollectorInterruptRequest),
    /// Raised by the ticket collector.
    TicketCollector(TicketCollectorInterruptRequest),
    /// Raised by the discovery dispatch.
    DiscoveryDispatch(DiscoveryDispatchInterruptRequest),
    /// Raised by the planning dispatch.
    PlanningDispatch(PlanningDispatchInterruptRequest),
    /// Raised by the ticket dispatch.
    TicketDispatch(TicketDispatchInterruptRequest),
    /// Raised by a discovery worker.
    DiscoveryAgent(DiscoveryAgentInterruptRequest),
    /// Raised by a planning worker.
    PlanningAgent(PlanningAgentInterruptRequest),
    /// Raised by a ticket worker.
    TicketAgent(TicketAgentInterruptRequest),
}
