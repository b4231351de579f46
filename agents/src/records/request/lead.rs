//! Requests to the nodes that lead: the orchestrator and those of the three phases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::records::NonEmptyText;

/// Asks the orchestrator to lead the workflow on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OrchestratorRequest {
    /// The workflow's goal; not empty.
    pub goal: NonEmptyText,
    /// The phase to go on with, where it is not the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// What to do otherwise than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// Asks the discovery orchestrator to find out what is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscoveryOrchestratorRequest {
    /// What to find out; not empty.
    pub goal: NonEmptyText,
    /// What to do otherwise than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// Asks the planning orchestrator to turn what was found into tickets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanningOrchestratorRequest {
    /// What to plan; not empty.
    pub goal: NonEmptyText,
    /// What to do otherwise than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// Asks the ticket orchestrator to have the tickets done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketOrchestratorRequest {
    /// What to do; not empty.
    pub goal: NonEmptyText,
    /// What to do otherwise than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}
