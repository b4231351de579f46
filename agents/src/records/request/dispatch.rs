//! Requests to the dispatch nodes: one entry for each worker to start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::records::{NonEmptyList, NonEmptyText};

/// Starts discovery workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscoveryAgentRequests {
    /// One entry for each worker; at least one.
    pub requests: NonEmptyList<DiscoveryAgentRequest>,
    /// What the workers find out together; not empty.
    pub goal: NonEmptyText,
    /// Why the work is cut like this.
    pub delegation_rationale: String,
    /// Notes for whoever reads the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
}

/// What one discovery worker looks into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscoveryAgentRequest {
    /// What to find out; not empty.
    pub goal: NonEmptyText,
    /// The part to look into: a folder, a module, a question.
    pub subdomain_focus: String,
}

/// Starts planning workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanningAgentRequests {
    /// One entry for each worker; at least one.
    pub requests: NonEmptyList<PlanningAgentRequest>,
    /// What the workers plan together; not empty.
    pub goal: NonEmptyText,
    /// Why the work is cut like this.
    pub delegation_rationale: String,
    /// Notes for whoever reads the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
}

/// What one planning worker plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanningAgentRequest {
    /// What to plan; not empty.
    pub goal: NonEmptyText,
}

/// Starts ticket workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketAgentRequests {
    /// One entry for each worker; at least one.
    pub requests: NonEmptyList<TicketAgentRequest>,
    /// What the workers do together; not empty.
    pub goal: NonEmptyText,
    /// Why the work is cut like this.
    pub delegation_rationale: String,
    /// Notes for whoever reads the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
}

/// The ticket of one worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketAgentRequest {
    /// The ticket: what to do and when it is done; not empty.
    pub ticket_details: NonEmptyText,
    /// A file that holds the whole ticket, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_details_file_path: Option<String>,
}
