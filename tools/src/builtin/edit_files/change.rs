//! Changing a file of the workspace so that it can be taken back.

use std::io;

use interrupts::Digest;

use super::diff;
use crate::tool::{ToolContext, ToolError, ToolOutput};
use crate::workspace::{Edit, EditHistory, WorkspaceError};

/// What is said of a change that was made and not recorded.
const MADE: &str =
    "[made before the process died: the file is exactly as this call was to leave it]";

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
    if context.shown.as_ref().is_none_or(|shown| shown == diff) {
        return Ok(());
    }
    let path = path.to_owned();
    Err(WorkspaceError::Changed { path }.into())
}

/// The result of a change whose process died before it was recorded; `None` where the file is not exactly as the change
/// was to leave it. What it was before is known where nothing else was changed since.
pub(super) fn made(path: &str, leaves: Digest, context: &ToolContext) -> Option<ToolOutput> {
    let now = context.workspace.read_text(path).ok()?;
    if Digest::of(now.as_bytes()) != leaves {
        return None;
    }
    let last = context.workspace.history().last().ok().flatten();
    let last = last.filter(|edit| edit.path == path && edit.after == leaves);
    let diff = last.map(|edit| diff(path, edit.before.as_deref(), Some(&now)));
    Some(ToolOutput::done(match diff {
        Some(diff) => format!("{MADE}\n{diff}"),
        None => MADE.to_owned(),
    }))
}

/// What taking the last change back would do.
pub(super) fn preview_undo(context: &ToolContext) -> String {
    let mut history = context.workspace.history();
    let diff = last_in_force(&mut history, context).and_then(|last| match last {
        Some((edit, now)) => Ok(diff(&edit.path, now.as_deref(), edit.before.as_deref())),
        None => Err(nothing_to_undo()),
    });
    preview_of(diff)
}

/// The preview of a change, or of the reason why there would be none now. A change that becomes possible later has
/// another preview, so the approval does not cover it.
pub(super) fn preview_of(diff: Result<String, ToolError>) -> String {
    diff.unwrap_or_else(|error| format!("[nothing, as it stands now: {error}]"))
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
