//! What the nodes answer that others call: review and merger.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a review found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewResult {
    /// Whether the content is good enough as it is.
    pub approved: bool,
    /// What was found, in a few sentences.
    pub assessment: String,
    /// What should be changed, one change an entry.
    pub suggestions: Vec<String>,
}

/// What a merge brought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergerResult {
    /// The merged work, in a few sentences.
    pub summary: String,
    /// The files that are settled.
    pub resolved_files: Vec<String>,
    /// The files that are still in conflict.
    pub open_conflicts: Vec<String>,
}
