//! What nodes answer when their work is done.

mod collector;
mod support;
mod worker;

pub use collector::{
    CollectorDecision, DiscoveryCollectorResult, OrchestratorCollectorResult,
    PlanningCollectorResult, TicketCollectorResult,
};
pub use support::{MergerResult, ReviewResult};
pub use worker::{DiscoveryAgentResult, PlanningAgentResult, TicketAgentResult};
