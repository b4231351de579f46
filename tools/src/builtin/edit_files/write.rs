//! `write_file`: writes a whole file.

use async_trait::async_trait;
use interrupts::Digest;
use interrupts::store::Repeating;
use routing_core::Outcome;
use serde::Deserialize;
use serde_json::json;

use super::change::{change, made, preview_of};
use super::diff;
use crate::builtin::{arguments, blocking, path_of};
use crate::tool::{
    Interruption, PartialOutput, Tool, ToolCall, ToolContext, ToolError, ToolName, ToolOutput,
    ToolSpec,
};
use crate::workspace::Workspace;

/// Writes a whole file.
pub(super) struct WriteFile {
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct WriteFileArguments {
    path: String,
    content: String,
}

impl WriteFile {
    pub(super) fn new() -> Self {
        let spec = ToolSpec {
            name: ToolName::fixed("write_file"),
            description: "Writes a text file of the workspace, a new one or in place of what was there, and returns \
                 the change as a diff. Missing folders are made."
                .to_owned(),
            arguments: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1},
                    "content": {"type": "string", "description": "The whole new text."},
                },
                "required": ["path", "content"],
                "additionalProperties": false,
            }),
            interruption: Interruption::Waits,
            // The same text written again is the same file.
            repeating: Repeating::Idempotent,
        };
        Self { spec }
    }
}

#[async_trait]
impl Tool for WriteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn path(&self, call: &ToolCall, _workspace: &Workspace) -> Option<String> {
        path_of(call)
    }

    fn keeps_to_paths(&self) -> bool {
        true
    }

    async fn preview(&self, call: &ToolCall, context: &ToolContext) -> Option<String> {
        let given: WriteFileArguments = arguments(call).ok()?;
        let before = context.workspace.read_if_there(&given.path);
        let diff = before.map(|before| diff(&given.path, before.as_deref(), Some(&given.content)));
        Some(preview_of(diff.map_err(ToolError::from)))
    }

    async fn leaves(&self, call: &ToolCall, context: &ToolContext) -> Option<Digest> {
        let _unused = context;
        let given: WriteFileArguments = arguments(call).ok()?;
        Some(Digest::of(given.content.as_bytes()))
    }

    async fn made(
        &self,
        call: &ToolCall,
        leaves: Digest,
        context: &ToolContext,
    ) -> Option<ToolOutput> {
        made(&path_of(call)?, leaves, context)
    }

    async fn call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
        let given: WriteFileArguments = arguments(call)?;
        blocking(context, move |context| {
            let diff = change(&given.path, context, |_before| Ok(given.content.clone()))?;
            Ok(Outcome::Completed(ToolOutput::done(diff)))
        })
        .await
    }
}
