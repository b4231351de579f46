//! Changing a file of the workspace so that it can be taken back.

use std::io;

use interrupts::Digest;

use super::diff;
use crate::tool::{Preview, ToolContext, ToolError};
use crate::workspace::{Edit, EditHistory, WorkspaceError};

/// Makes a change and returns its diff. `make` gets the text of the file, if there is one. Changes of a workspace are
/// made one after the other.
pub(super) fn change(
    path: &str,
    context: &ToolContext,
    make: impl FnOnce(Option<&str>) -> Result<String, ToolError>,
) -> Result<String, ToolError> {
    let mut history = context.workspace.history();
    let before = context.workspace.read_if_there(path)?;
    let after = make(before.as_deref())?;
    let diff = diff(path, before.as_deref(), Some(&after));
    if before.as_deref() == Some(&after) {
        return Ok(diff);
    }
    does_what_was_shown(context, path, &diff)?;
    // First, so that no change is ever there that cannot be taken back.
    let edit = Edit {
        path: path.to_owned(),
        before: before.clone(),
        after: Digest::of(after.as_bytes()),
    };
    history.push(edit).map_err(|source| ToolError::Io {
        doing: "the change was not made, because what was there before could not be kept"
            .to_owned(),
        source,
    })?;
    if let Err(error) = context
        .workspace
        .replace_text(path, before.as_deref(), &after)
    {
        history.pop().map_err(unkept)?;
        return Err(error.into());
    }
    Ok(diff)
}

/// Takes the last change back, unless the file was changed since, and returns the diff of that.
pub(super) fn undo(context: &ToolContext) -> Result<String, ToolError> {
    let mut history = context.workspace.history();
    let unusable = |reason: String| Err(ToolError::Unusable { reason });
    let Some((edit, now)) = last_in_force(&mut history, context)? else {
        return Err(nothing_to_undo());
    };
    if now.as_ref().map(|now| Digest::of(now.as_bytes())) != Some(edit.after) {
        return unusable(format!(
            "`{}` was changed since, so the edit cannot be taken back",
            edit.path
        ));
    }
    let diff = diff(&edit.path, now.as_deref(), edit.before.as_deref());
    does_what_was_shown(context, &edit.path, &diff)?;
    match &edit.before {
        Some(before) => context
            .workspace
            .replace_text(&edit.path, now.as_deref(), before)?,
        None => context.workspace.remove_file(&edit.path, now.as_deref())?,
    }
    history.pop().map_err(unkept)?;
    Ok(diff)
}

/// Refuses a change that is not the one that was allowed.
fn does_what_was_shown(context: &ToolContext, path: &str, diff: &str) -> Result<(), ToolError> {
    let is_shown = |shown: &Preview| shown.change() == Some(diff);
    if context.shown.as_ref().is_none_or(is_shown) {
        return Ok(());
    }
    let path = path.to_owned();
    Err(WorkspaceError::Changed { path }.into())
}

/// Whether the file is as the last change of it here has left it, and that change has left this text.
pub(super) fn is_made_already(path: &str, text: &str, context: &ToolContext) -> bool {
    let last = context.workspace.history().last().ok().flatten();
    last.is_some_and(|edit| edit.path == path && edit.after == Digest::of(text.as_bytes()))
        && context.workspace.read_text(path).ok().as_deref() == Some(text)
}

/// What taking the last change back would do.
pub(super) fn preview_undo(context: &ToolContext) -> Preview {
    let mut history = context.workspace.history();
    let diff = last_in_force(&mut history, context).and_then(|last| match last {
        Some((edit, now)) => Ok(diff(&edit.path, now.as_deref(), edit.before.as_deref())),
        None => Err(nothing_to_undo()),
    });
    preview_of(diff)
}

/// The preview of a change, or of the reason why there would be none now. A change that becomes possible later has
/// another preview, so the approval does not cover it.
pub(super) fn preview_of(diff: Result<String, ToolError>) -> Preview {
    Preview::Change(diff.unwrap_or_else(|error| format!("[nothing, as it stands now: {error}]")))
}

fn nothing_to_undo() -> ToolError {
    let reason = "there is no edit that could be taken back".to_owned();
    ToolError::Unusable { reason }
}

/// The last change whose file is not as it was before it, and the text of that file now. One whose file is as before
/// was taken back already, or was never made: its process died in between. It is forgotten.
fn last_in_force(
    history: &mut EditHistory,
    context: &ToolContext,
) -> Result<Option<(Edit, Option<String>)>, ToolError> {
    while let Some(edit) = history.last().map_err(unkept)? {
        let now = context.workspace.read_if_there(&edit.path)?;
        if now != edit.before {
            return Ok(Some((edit, now)));
        }
        history.pop().map_err(unkept)?;
    }
    Ok(None)
}

fn unkept(source: io::Error) -> ToolError {
    ToolError::Io {
        doing: "the changes so far cannot be read".to_owned(),
        source,
    }
}
