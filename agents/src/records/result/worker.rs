//! What the workers answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::records::Ticket;

/// What a discovery worker found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscoveryAgentResult {
    /// What matters, in a few sentences.
    pub summary: String,
    /// What was found, one finding an entry.
    pub findings: Vec<String>,
    /// The files it was found in.
    pub file_references: Vec<String>,
    /// What stayed open.
    pub open_questions: Vec<String>,
}

/// What a planning worker planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanningAgentResult {
    /// The plan, in a few sentences.
    pub summary: String,
    /// Its tickets.
    pub tickets: Vec<Ticket>,
}

/// What a ticket worker did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TicketAgentResult {
    /// What was done, in a few sentences.
    pub summary: String,
    /// The files that were changed.
    pub files_modified: Vec<String>,
    /// What the checks said.
    pub verification_results: Vec<String>,
    /// What is left to do.
    pub follow_ups: Vec<String>,
}
