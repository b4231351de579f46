//! What the collectors answer: what their phase brought, and where to go from there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::records::{Phase, Ticket};

/// Where to go after a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CollectorDecision {
    /// On to the next phase.
    AdvancePhase,
    /// Back to an earlier phase, or to this one again.
    RouteBack,
    /// The workflow ends here.
    Stop,
}

/// What discovery brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscoveryCollectorResult {
    /// What was found, for the phases after this one.
    pub summary: String,
    /// What should be done next.
    pub recommendations: Vec<String>,
    /// The places in the code that matter.
    pub code_references: Vec<String>,
    /// Where to go from here.
    pub decision: CollectorDecision,
    /// Why.
    pub rationale: String,
    /// The phase to go back to, with ROUTE_BACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_phase: Option<Phase>,
}

/// What planning brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanningCollectorResult {
    /// The plan, for the phases after this one.
    pub summary: String,
    /// Its tickets.
    pub tickets: Vec<Ticket>,
    /// Where to go from here.
    pub decision: CollectorDecision,
    /// Why.
    pub rationale: String,
    /// The phase to go back to, with ROUTE_BACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_phase: Option<Phase>,
}

/// What the tickets brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketCollectorResult {
    /// What was done.
    pub summary: String,
    /// Which tickets are done, and which are not.
    pub completion_status: String,
    /// What is left to do.
    pub follow_ups: Vec<String>,
    /// Where to go from here.
    pub decision: CollectorDecision,
    /// Why.
    pub rationale: String,
    /// The phase to go back to, with ROUTE_BACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_phase: Option<Phase>,
}

/// What the workflow brought. ADVANCE_PHASE ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrchestratorCollectorResult {
    /// What the workflow brought, for whoever gave the goal.
    pub summary: String,
    /// Where to go from here.
    pub decision: CollectorDecision,
    /// Why.
    pub rationale: String,
    /// The phase to go back to, with ROUTE_BACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_phase: Option<Phase>,
}
