//! `list_files`: lists files and folders of the workspace, without those that are hidden or that `.gitignore` names.

use std::num::NonZeroUsize;

use interrupt_router::Outcome;
use interrupts::store::Repeating;
use schemars::JsonSchema;
use serde::Deserialize;

use super::file_tool::FileWork;
use super::walk::Walk;
use super::{Ended, spec_of};
use crate::tool::{Interruption, PartialOutput, ToolContext, ToolOutput, ToolSpec};

/// The most entries that are listed.
const MOST_ENTRIES: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListFiles {
    /// The folder; without it the whole workspace.
    path: Option<String>,
    /// How many levels; without it all.
    depth: Option<NonZeroUsize>,
}

impl FileWork for ListFiles {
    fn spec() -> ToolSpec {
        let description = format!(
            "Lists files and folders of the workspace, folders with a `/` at their end, without hidden and ignored ones; at \
             most {MOST_ENTRIES}."
        );
        let (interruption, repeating) = (Interruption::Stops, Repeating::Idempotent);
        spec_of::<Self>("list_files", description, interruption, repeating)
    }

    fn run(self, context: &ToolContext) -> Ended {
        let workspace = &context.workspace;
        let folder = workspace.directory(self.path.as_deref().unwrap_or("."))?;
        let mut walk = Walk::through(workspace, &folder);
        walk.builder.max_depth(self.depth.map(NonZeroUsize::get));
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
}
