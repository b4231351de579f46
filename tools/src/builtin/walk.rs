//! A walk through a folder of the workspace. What a rule denies is left out, and counted.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::WalkBuilder;

use crate::workspace::Workspace;

/// A walk that is being prepared, and what it will have left out.
pub(super) struct Walk {
    pub(super) builder: WalkBuilder,
    left_out: Arc<AtomicUsize>,
}

impl Walk {
    /// Through a folder, without what `.gitignore` names and what is hidden.
    pub(super) fn through(workspace: &Workspace, folder: &Path) -> Self {
        let mut builder = WalkBuilder::new(folder);
        builder.require_git(false).sort_by_file_name(Ord::cmp);
        let left_out = Arc::<AtomicUsize>::default();
        let (workspace, count) = (workspace.clone(), Arc::clone(&left_out));
        builder.filter_entry(move |entry| {
            let is_denied = workspace.denies(entry.path(), entry.path_is_symlink());
            if is_denied {
                count.fetch_add(1, Ordering::Relaxed);
            }
            !is_denied
        });
        Self { builder, left_out }
    }

    /// Says at the end of a result what was left out so far.
    pub(super) fn note(&self, lines: &mut Vec<String>) {
        let count = self.left_out.load(Ordering::Relaxed);
        if count > 0 {
            let things = if count == 1 {
                "file or folder"
            } else {
                "files or folders"
            };
            lines.push(format!("[a rule about paths leaves {count} {things} out]"));
        }
    }
}
