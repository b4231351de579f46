//! `edit_file`, `write_file` and `undo_edit`: changes of text files, shown as diffs, that can be taken back.

mod change;
mod edit;
mod file_change;
mod undo;
mod write;

use std::sync::Arc;

use similar::TextDiff;

use super::file_tool::FileTool;
use crate::tool::Tool;

use edit::EditFile;
use undo::UndoEdit;
use write::WriteFile;

/// The tools that change files: what one of them changed in a workspace, another can take back.
pub fn edit_tools() -> [Arc<dyn Tool>; 3] {
    [
        Arc::new(FileTool::<EditFile>::new()),
        Arc::new(FileTool::<WriteFile>::new()),
        Arc::new(UndoEdit::new()),
    ]
}

/// A change as a unified diff.
fn diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (old, new) = (name("a", before), name("b", after));
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let text = diff
        .unified_diff()
        .context_radius(3)
        .header(&old, &new)
        .to_string();
    if text.is_empty() {
        "[nothing changed]".to_owned()
    } else {
        text
    }
}
