//! The records of the workflow: what agents raise, ask, answer, and where they may go.
//!
//! Doc comments of what a model fills become descriptions in its schema: they are written for it.

mod full;
mod interrupt;
mod non_empty;
mod phase;
mod request;
mod result;
mod routing;
mod ticket;

pub(crate) use full::full_name;
pub use full::{
    Caller, ContextManagerRequest, DiscoveryAndPlanningSummaries, DiscoverySummary, Draft,
    FullRequest, NothingCarried, Summaries,
};
pub use interrupt::{
    ContextManagerInterruptRequest, DiscoveryAgentInterruptRequest,
    DiscoveryCollectorInterruptRequest, DiscoveryDispatchInterruptRequest,
    DiscoveryOrchestratorInterruptRequest, InterruptRequest, MergerInterruptRequest,
    OrchestratorCollectorInterruptRequest, OrchestratorInterruptRequest,
    PlanningAgentInterruptRequest, PlanningCollectorInterruptRequest,
    PlanningDispatchInterruptRequest, PlanningOrchestratorInterruptRequest, ReviewInterruptRequest,
    TicketAgentInterruptRequest, TicketCollectorInterruptRequest, TicketDispatchInterruptRequest,
    TicketOrchestratorInterruptRequest,
};
pub use non_empty::{EmptyList, EmptyText, NonEmptyList, NonEmptyText};
pub use phase::Phase;
pub use request::{
    ContextManagerRequestType, ContextManagerRoutingRequest, DiscoveryAgentRequest,
    DiscoveryAgentRequests, DiscoveryCollectorRequest, DiscoveryOrchestratorRequest, MergerRequest,
    OrchestratorCollectorRequest, OrchestratorRequest, PlanningAgentRequest, PlanningAgentRequests,
    PlanningCollectorRequest, PlanningOrchestratorRequest, ReturnTo, ReviewRequest,
    TicketAgentRequest, TicketAgentRequests, TicketCollectorRequest, TicketOrchestratorRequest,
};
pub use result::{
    CollectorDecision, DiscoveryAgentResult, DiscoveryCollectorResult, MergerResult,
    OrchestratorCollectorResult, PlanningAgentResult, PlanningCollectorResult, ReviewResult,
    TicketAgentResult, TicketCollectorResult,
};
pub use routing::*;
pub use ticket::Ticket;
