//! Requests to the nodes that others call: review, merger, context manager.

use interrupt_router::AgentType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent_kind::RouteType;
use crate::records::NonEmptyText;

/// Asks for a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewRequest {
    /// What to review; not empty.
    pub content: NonEmptyText,
    /// What to measure it by, beyond its own goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<String>,
    /// Who asks, and gets the review.
    pub return_to: ReturnTo,
}

/// Asks to merge work that is in conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergerRequest {
    /// What led to the conflict, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_context: Option<String>,
    /// What is to be merged.
    pub merge_summary: String,
    /// The files in conflict.
    pub conflict_files: String,
    /// Who asks, and gets the merged work.
    pub return_to: ReturnTo,
}

/// The collector that called, to which the answer goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
#[agent_type(route = RouteType)]
pub enum ReturnTo {
    /// The orchestrator's collector.
    OrchestratorCollector,
    /// The discovery collector.
    DiscoveryCollector,
    /// The planning collector.
    PlanningCollector,
    /// The ticket collector.
    TicketCollector,
}

/// Asks the context manager for context that is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextManagerRoutingRequest {
    /// Why the context is needed.
    pub reason: String,
    /// What is missing; not empty.
    pub missing_context_description: NonEmptyText,
    /// What to do about it.
    pub r#type: ContextManagerRequestType,
    /// Where it may be found: files, nodes, tickets.
    pub suggested_sources: Vec<String>,
}

/// What the context manager shall do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ContextManagerRequestType {
    /// Look into what the agents know.
    IntrospectAgentContext,
    /// Go on with what is there.
    Proceed,
}
