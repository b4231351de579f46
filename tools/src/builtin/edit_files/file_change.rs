//! A change of one file as the work of a tool: a preview, a result that can be looked for after a death, and a change that
//! can be taken back.

use interrupt_router::Outcome;
use interrupts::Digest;
use serde::de::DeserializeOwned;

use super::change::{change, made, preview_of};
use super::diff;
use crate::builtin::Ended;
use crate::builtin::file_tool::FileWork;
use crate::tool::{ToolContext, ToolError, ToolOutput, ToolSpec};

/// The arguments of a tool that changes a file, and what they make of it.
pub(super) trait FileChange: DeserializeOwned + Send + Sync + 'static {
    /// What the tool says of itself.
    fn spec() -> ToolSpec;

    /// The file.
    fn path(&self) -> &str;

    /// Its text after the change; `before` is what it is now, if there is such a file.
    fn after(&self, before: Option<&str>) -> Result<String, ToolError>;
}

impl<C: FileChange> FileWork for C {
    fn spec() -> ToolSpec {
        C::spec()
    }

    fn run(self, context: &ToolContext) -> Ended {
        let diff = change(self.path(), context, |before| self.after(before))?;
        Ok(Outcome::Completed(ToolOutput::done(diff)))
    }

    fn preview(&self, context: &ToolContext) -> Option<String> {
        let before = context.workspace.read_if_there(self.path());
        let diff = before.map_err(ToolError::from).and_then(|before| {
            let after = self.after(before.as_deref())?;
            Ok(diff(self.path(), before.as_deref(), Some(&after)))
        });
        Some(preview_of(diff))
    }

    fn leaves(&self, context: &ToolContext) -> Option<Digest> {
        let before = context.workspace.read_if_there(self.path()).ok()?;
        let after = self.after(before.as_deref()).ok()?;
        Some(Digest::of(after.as_bytes()))
    }

    fn made(&self, leaves: Digest, context: &ToolContext) -> Option<ToolOutput> {
        made(self.path(), leaves, context)
    }
}
