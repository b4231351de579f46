//! A piece of work that one agent can do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A piece of work that one agent can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ticket {
    /// A short id, unique in the plan, such as T-3.
    pub ticket_id: String,
    /// The title, in one line.
    pub title: String,
    /// What is to be done, and why.
    pub description: String,
    /// The steps, in order.
    pub tasks: Vec<String>,
    /// Ids of the tickets that must be done before.
    pub dependencies: Vec<String>,
    /// What must hold when it is done; each can be checked.
    pub acceptance_criteria: Vec<String>,
    /// How much work it is, such as "2 hours".
    pub effort_estimate: String,
    /// Its place in the queue: 1 comes first.
    pub priority: u32,
}
