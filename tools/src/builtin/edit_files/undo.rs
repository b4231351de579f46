//! `undo_edit`: takes the last change back.

use async_trait::async_trait;
use interrupt_router::Outcome;
use interrupts::store::Repeating;
use schemars::JsonSchema;
use serde::Deserialize;

use super::change::{preview_undo, undo};
use crate::builtin::{Ended, blocking, spec_of};
use crate::tool::{Interruption, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};
use crate::workspace::Workspace;

/// Its arguments: there are none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Takes the last change back.
pub(super) struct UndoEdit {
    spec: ToolSpec,
}

impl UndoEdit {
    pub(super) fn new() -> Self {
        let description = "Takes the last change by `edit_file` or `write_file` back, unless the file was changed since, and returns \
                           that as a diff. May be called again for the change before.";
        let (interruption, repeating) = (Interruption::Waits, Repeating::AskPerson);
        let spec = spec_of::<Nothing>("undo_edit", description.to_owned(), interruption, repeating);
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

    async fn call(&self, _call: &ToolCall, context: &ToolContext) -> Ended {
        blocking(context, move |context| {
            Ok(Outcome::Completed(ToolOutput::done(undo(context)?)))
        })
        .await
    }
}
