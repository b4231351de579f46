//! Requests to the collectors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::records::NonEmptyText;

/// Asks the orchestrator's collector to end the workflow, or to send it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrchestratorCollectorRequest {
    /// The workflow's goal; not empty.
    pub goal: NonEmptyText,
    /// The phase that was done last, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

/// Asks the discovery collector to put the findings together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscoveryCollectorRequest {
    /// What was to be found out; not empty.
    pub goal: NonEmptyText,
    /// What the workers found.
    pub discovery_results: String,
}

/// Asks the planning collector to put the plan together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanningCollectorRequest {
    /// What was to be planned; not empty.
    pub goal: NonEmptyText,
    /// What the workers planned.
    pub planning_results: String,
}

/// Asks the ticket collector to check what was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketCollectorRequest {
    /// What was to be done; not empty.
    pub goal: NonEmptyText,
    /// What the workers did.
    pub ticket_results: String,
}
