//! The fourteen requests as a model fills them: what nodes are asked to do.
//!
//! What our code adds to them before a node sees them is in [`FullRequest`](super::FullRequest).

mod collect;
mod dispatch;
mod lead;
mod support;

pub use collect::{
    DiscoveryCollectorRequest, OrchestratorCollectorRequest, PlanningCollectorRequest,
    TicketCollectorRequest,
};
pub use dispatch::{
    DiscoveryAgentRequest, DiscoveryAgentRequests, PlanningAgentRequest, PlanningAgentRequests,
    TicketAgentRequest, TicketAgentRequests,
};
pub use lead::{
    DiscoveryOrchestratorRequest, OrchestratorRequest, PlanningOrchestratorRequest,
    TicketOrchestratorRequest,
};
pub use support::{
    ContextManagerRequestType, ContextManagerRoutingRequest, MergerRequest, ReturnTo, ReviewRequest,
};
