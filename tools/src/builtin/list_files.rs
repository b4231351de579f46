//! `list_files`: lists files and folders of the workspace.

use async_trait::async_trait;
use interrupts::store::Repeating;
use routing_core::Outcome;
use serde::Deserialize;
use serde_json::json;

use super::walk::Walk;
use super::{arguments, blocking, path_of};
use crate::tool::{
    Interruption, PartialOutput, Tool, ToolCall, ToolContext, ToolError, ToolName, ToolOutput,
    ToolSpec,
};
use crate::workspace::Workspace;

/// The most entries that are listed.
const MOST_ENTRIES: usize = 1_000;

/// Lists files and folders of the workspace, without those that are hidden or that `.gitignore` names.
#[derive(Debug, Clone)]
pub struct ListFiles {
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct ListFilesArguments {
    path: Option<String>,
    depth: Option<usize>,
}

impl Default for ListFiles {
    fn default() -> Self {
        Self::new()
    }
}

impl ListFiles {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: ToolName::fixed("list_files"),
                description: format!(
                    "Lists files and folders of the workspace, folders with a `/` at their end, without hidden and \
                     ignored ones; at most {MOST_ENTRIES}."
                ),
                arguments: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "The folder; without it the whole workspace."},
                        "depth": {"type": "integer", "minimum": 1, "description": "How many levels; without it all."},
                    },
                    "additionalProperties": false,
                }),
                interruption: Interruption::Stops,
                repeating: Repeating::Idempotent,
            },
        }
    }
}

#[async_trait]
impl Tool for ListFiles {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn path(&self, call: &ToolCall, _workspace: &Workspace) -> Option<String> {
        path_of(call)
    }

    fn keeps_to_paths(&self) -> bool {
        true
    }

    async fn call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
        let given: ListFilesArguments = arguments(call)?;
        blocking(context, move |context| list(&given, context)).await
    }
}

fn list(
    given: &ListFilesArguments,
    context: &ToolContext,
) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
    let workspace = &context.workspace;
    let folder = workspace.directory(given.path.as_deref().unwrap_or("."))?;
    let mut walk = Walk::through(workspace, &folder);
    walk.builder.max_depth(given.depth);
    let mut lines = Vec::new();
    let mut more = false;
    for entry in walk.builder.build().filter_map(Result::ok).skip(1) {
        if context.scope.is_stopped_now()
            && let Some(reason) = context.scope.reason()
        {
            let partial = PartialOutput::returned(lines.join("\n"));
            return Ok(Outcome::Interrupted { reason, partial });
        }
        if lines.len() == MOST_ENTRIES {
            more = true;
            break;
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let path = entry
            .path()
            .strip_prefix(workspace.root())
            .unwrap_or(entry.path());
        lines.push(format!(
            "{}{}",
            path.display(),
            if is_folder { "/" } else { "" }
        ));
    }
    if more {
        lines.push(format!(
            "[more than {MOST_ENTRIES}: name a folder, or a depth]"
        ));
    }
    walk.note(&mut lines);
    Ok(Outcome::Completed(ToolOutput::done(lines.join("\n"))))
}
