//! `edit_file`: replaces a piece of a file.

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

/// Replaces a piece of a file.
pub(super) struct EditFile {
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct EditFileArguments {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    everywhere: bool,
}

impl EditFile {
    pub(super) fn new() -> Self {
        let spec = ToolSpec {
            name: ToolName::fixed("edit_file"),
            description: "Replaces a piece of a text file of the workspace, and returns the change as a diff. The old \
                 piece must be in the file exactly once, unless it is to be replaced everywhere."
                .to_owned(),
            arguments: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "minLength": 1},
                    "old": {"type": "string", "minLength": 1, "description": "The piece, with all of its spaces."},
                    "new": {"type": "string", "description": "What comes in its place."},
                    "everywhere": {"type": "boolean"},
                },
                "required": ["path", "old", "new"],
                "additionalProperties": false,
            }),
            interruption: Interruption::Waits,
            repeating: Repeating::AskPerson,
        };
        Self { spec }
    }
}

#[async_trait]
impl Tool for EditFile {
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
        let given: EditFileArguments = arguments(call).ok()?;
        let before = context.workspace.read_if_there(&given.path);
        let diff = before.map_err(ToolError::from).and_then(|before| {
            let after = replaced(&given, before.as_deref())?;
            Ok(diff(&given.path, before.as_deref(), Some(&after)))
        });
        Some(preview_of(diff))
    }

    async fn leaves(&self, call: &ToolCall, context: &ToolContext) -> Option<Digest> {
        let given: EditFileArguments = arguments(call).ok()?;
        let before = context.workspace.read_if_there(&given.path).ok()?;
        let after = replaced(&given, before.as_deref()).ok()?;
        Some(Digest::of(after.as_bytes()))
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
        let given: EditFileArguments = arguments(call)?;
        blocking(context, move |context| {
            let diff = change(&given.path, context, |before| replaced(&given, before))?;
            Ok(Outcome::Completed(ToolOutput::done(diff)))
        })
        .await
    }
}

fn replaced(given: &EditFileArguments, before: Option<&str>) -> Result<String, ToolError> {
    let unusable = |reason: String| Err(ToolError::Unusable { reason });
    let Some(before) = before else {
        return unusable(format!("there is no file `{}`", given.path));
    };
    match before.matches(&given.old).count() {
        0 => unusable(format!("the old piece is not in `{}`", given.path)),
        1 => Ok(before.replacen(&given.old, &given.new, 1)),
        _ if given.everywhere => Ok(before.replace(&given.old, &given.new)),
        times => unusable(format!(
            "the old piece is in `{}` {times} times; give more of it",
            given.path
        )),
    }
}
