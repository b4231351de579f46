//! Calls of tools: as a model asks for them, and as they run.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spec::ToolName;

/// The id that a model gave a call. Nothing is promised about it: it may be empty, and two calls may have the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(String);

impl CallId {
    /// The id.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for CallId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A call as a model asks for it: nothing of it is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedCall {
    /// Its id.
    pub id: CallId,
    /// The name of the tool, which may not exist.
    pub tool: String,
    /// The arguments as the model wrote them, which may be no JSON.
    pub arguments: String,
}

impl RequestedCall {
    /// A call.
    pub fn new(
        id: impl Into<String>,
        tool: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: CallId::new(id),
            tool: tool.into(),
            arguments: arguments.into(),
        }
    }
}

/// A call of a tool that exists, with arguments that fit its schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id.
    pub id: CallId,
    /// The tool.
    pub tool: ToolName,
    /// The arguments.
    pub arguments: Value,
}
