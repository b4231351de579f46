//! `undo_edit`: takes the last change back.

use async_trait::async_trait;
use interrupts::store::Repeating;
use routing_core::Outcome;
use serde_json::json;

use super::change::{preview_undo, undo};
use crate::builtin::blocking;
use crate::tool::{
    Interruption, PartialOutput, Tool, ToolCall, ToolContext, ToolError, ToolName, ToolOutput,
    ToolSpec,
};
use crate::workspace::Workspace;

/// Takes the last change back.
pub(super) struct UndoEdit {
    spec: ToolSpec,
}

impl UndoEdit {
    pub(super) fn new() -> Self {
        let spec = ToolSpec {
            name: ToolName::fixed("undo_edit"),
            description: "Takes the last change by `edit_file` or `write_file` back, unless the file was changed \
                 since, and returns that as a diff. May be called again for the change before."
                .to_owned(),
            arguments: json!({"type": "object", "properties": {}, "additionalProperties": false}),
            interruption: Interruption::Waits,
            repeating: Repeating::AskPerson,
        };
        Self { spec }
    }
}

#[async_trait]
impl Tool for UndoEdit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn path(&self, _call: &ToolCall, workspace: &Workspace) -> Option<String> {
        let last = workspace.history().last().ok()?;
        last.map(|edit| edit.path)
    }

    fn keeps_to_paths(&self) -> bool {
        true
    }

    async fn preview(&self, _call: &ToolCall, context: &ToolContext) -> Option<String> {
        Some(preview_undo(context))
    }

    async fn call(
        &self,
        _call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
        blocking(context, move |context| {
            Ok(Outcome::Completed(ToolOutput::done(undo(context)?)))
        })
        .await
    }
}
