//! Tools, as far as a model is concerned: what it may ask for, and what it asked for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool that a model may ask for in a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOffer {
    /// What it is called by: 1 to 64 ASCII letters, digits, `-` and `_`.
    pub name: String,
    /// What it does, for the model that chooses.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub arguments: Value,
}

impl ToolOffer {
    /// How many bytes a model reads of it.
    pub(super) fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.arguments.to_string().len()
    }
}

/// A call of a tool that a model asked for, whole. Nothing of it is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRequest {
    /// The id that the model gave it. It may be empty, and two requests may have the same.
    pub id: String,
    /// The name of the tool, which may not have been offered.
    pub name: String,
    /// The arguments as the model wrote them, which may be no JSON.
    pub arguments: String,
    /// What the provider wants to see again with this request, unchanged and not to be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<String>,
}

impl ToolRequest {
    /// A request without signatures.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            signatures: Vec::new(),
        }
    }
}
