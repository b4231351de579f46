//! A tool of a server.

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::Outcome;
use interrupt_router::schema::updated;
use interrupts::store::Repeating;
use rmcp::model::ToolAnnotations;
use serde_json::Value;

use super::call;
use super::content::bounded;
use super::name::tool_name;
use super::resources::ResourceRequest;
use super::server::Server;
use crate::arguments::ArgumentsSchema;
use crate::tool::{
    Interruption, PartialOutput, Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolSpec,
};

/// The longest description that is passed on.
const LONGEST_DESCRIPTION: usize = 4 * 1024;

/// What a call of a tool means for its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Means {
    /// A call of the tool that it gives this name.
    Tool(String),
    /// Reading its resources.
    Reading(ResourceRequest),
}

/// A tool as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listed {
    pub(super) means: Means,
    pub(super) spec: ToolSpec,
}

impl Listed {
    /// Takes a tool up; an error says why it cannot be used.
    pub(super) fn read(server: &Server, tool: &rmcp::model::Tool) -> Result<Self, String> {
        let mut arguments = Value::Object((*tool.input_schema).clone());
        if ArgumentsSchema::compile(&arguments).is_err() {
            // It may be of an older draft without saying so.
            arguments = updated(&arguments);
            ArgumentsSchema::compile(&arguments).map_err(|error| error.to_string())?;
        }
        let hints = tool.annotations.clone().unwrap_or_default();
        let words = tool.description.as_deref().or(tool.title.as_deref());
        let words = bounded(words.unwrap_or(&tool.name), LONGEST_DESCRIPTION);
        let repeatable = hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true);
        Ok(Self {
            means: Means::Tool(tool.name.to_string()),
            spec: ToolSpec {
                name: tool_name(&server.name, &tool.name),
                description: format!("{words}\n{}", description(server, &hints)),
                arguments,
                interruption: Interruption::Stops,
                repeating: if server.config.trust_hints && repeatable {
                    Repeating::Idempotent
                } else {
                    Repeating::AskPerson
                },
            },
        })
    }

    /// A tool that reads the server's resources.
    pub(super) fn reading(server: &Server, reading: ResourceRequest) -> Self {
        Self {
            means: Means::Reading(reading),
            spec: ToolSpec {
                name: tool_name(&server.name, reading.name()),
                description: format!(
                    "{}\n[Of the MCP server `{}`. It only reads.]",
                    reading.description(),
                    server.name
                ),
                arguments: reading.arguments(),
                interruption: Interruption::Stops,
                repeating: Repeating::Idempotent,
            },
        }
    }

    /// The name that the server would know it by.
    pub(super) fn original(&self) -> &str {
        match &self.means {
            Means::Tool(name) => name,
            Means::Reading(reading) => reading.name(),
        }
    }
}

/// What the server says of the tool, as its word.
fn description(server: &Server, hints: &ToolAnnotations) -> String {
    let mut said = Vec::new();
    match hints.read_only_hint {
        Some(true) => said.push("that it changes nothing"),
        Some(false) | None => {
            if hints.destructive_hint == Some(true) {
                said.push("that it may destroy things");
            }
        }
    }
    if hints.idempotent_hint == Some(true) {
        said.push("that doing it twice is the same as once");
    }
    let tool_of = format!("[A tool of the MCP server `{}`", server.name);
    if said.is_empty() {
        format!("{tool_of}.]")
    } else {
        format!(
            "{tool_of}, which says {}; nobody has checked that.]",
            said.join(" and ")
        )
    }
}

/// A tool of a server, over all of the server's lives.
pub(super) struct McpTool {
    server: Arc<Server>,
    listed: Arc<Listed>,
}

impl McpTool {
    pub(super) fn new(server: Arc<Server>, listed: Arc<Listed>) -> Self {
        Self { server, listed }
    }
}

impl Debug for McpTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("McpTool")
            .field("name", &self.listed.spec.name)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.listed.spec
    }

    async fn call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
        call::call(&self.server, &self.listed.means, call, context).await
    }
}
