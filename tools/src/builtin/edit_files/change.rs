//! What was changed, so that it can be taken back.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::diff;
use crate::tool::{ToolContext, ToolError};

/// The most changes that can be taken back.
const MOST_KEPT: usize = 100;

/// The changes so far.
#[derive(Debug, Default)]
pub(super) struct EditLog {
    edits: Mutex<VecDeque<Edit>>,
}

#[derive(Debug)]
struct Edit {
    path: String,
    /// `None`: there was no such file.
    before: Option<String>,
    after: String,
}

impl EditLog {
    /// Makes a change and returns its diff. `change` gets the text of the file, if there is one. Changes are made one
    /// after the other.
    pub(super) fn change(
        &self,
        path: &str,
        context: &ToolContext,
        change: impl FnOnce(Option<&str>) -> Result<String, ToolError>,
    ) -> Result<String, ToolError> {
        let mut edits = self.lock();
        let before = context.workspace.read_if_there(path)?;
        let after = change(before.as_deref())?;
        let diff = diff(path, before.as_deref(), Some(&after));
        if before.as_deref() == Some(&after) {
            return Ok(diff);
        }
        context.workspace.write_text(path, &after)?;
        if edits.len() == MOST_KEPT {
            edits.pop_front();
        }
        edits.push_back(Edit {
            path: path.to_owned(),
            before,
            after,
        });
        Ok(diff)
    }

    /// Takes the last change back, unless the file was changed since, and returns the diff of that.
    pub(super) fn undo(&self, context: &ToolContext) -> Result<String, ToolError> {
        let mut edits = self.lock();
        let unusable = |reason: String| Err(ToolError::Unusable { reason });
        let Some(edit) = edits.back() else {
            return unusable("there is no edit that could be taken back".to_owned());
        };
        let now = context.workspace.read_if_there(&edit.path)?;
        if now.as_deref() != Some(&edit.after) {
            return unusable(format!(
                "`{}` was changed since, so the edit cannot be taken back",
                edit.path
            ));
        }
        match &edit.before {
            Some(before) => context.workspace.write_text(&edit.path, before)?,
            None => context.workspace.remove_file(&edit.path)?,
        }
        let diff = diff(&edit.path, Some(&edit.after), edit.before.as_deref());
        edits.pop_back();
        Ok(diff)
    }

    /// What taking the last change back would do.
    pub(super) fn preview_undo(&self) -> Option<String> {
        let edits = self.lock();
        let edit = edits.back()?;
        Some(diff(&edit.path, Some(&edit.after), edit.before.as_deref()))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Edit>> {
        self.edits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
