//! Parts of a workspace that can be studied one by one.

use std::collections::BTreeMap;

use super::file::WorkspaceFile;

/// The name of the part that has the files beside the folders.
const BESIDE: &str = "(top level)";

/// A folder of the workspace, or the files beside its folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacePart<'w> {
    /// The folder's path within the workspace; `(top level)` for the files beside the folders.
    pub name: String,
    /// Its files, those of the folders below it included.
    pub files: Vec<&'w WorkspaceFile>,
}

/// The folders one level down, in the order of their names. If a folder is the only one, its own folders are taken
/// instead, as long as it has any.
pub(super) fn parts(files: &[WorkspaceFile]) -> Vec<WorkspacePart<'_>> {
    let mut within = String::new();
    loop {
        let parts = below(files, &within);
        match parts.as_slice() {
            [only] if only.name != BESIDE && only.name != within && has_folders(only) => {
                within.clone_from(&only.name);
            }
            _ => return parts,
        }
    }
}

fn has_folders(part: &WorkspacePart<'_>) -> bool {
    part.files.iter().any(|file| file.folder() != part.name)
}

fn below<'w>(files: &'w [WorkspaceFile], within: &str) -> Vec<WorkspacePart<'w>> {
    let mut parts: BTreeMap<String, Vec<&WorkspaceFile>> = BTreeMap::new();
    for file in files {
        let inside = if within.is_empty() {
            file.path.as_str()
        } else {
            // All files of the only part are within it.
            file.path
                .get(within.len() + 1..)
                .unwrap_or(file.path.as_str())
        };
        let name = match (inside.split_once('/'), within.is_empty()) {
            (Some((folder, _rest)), true) => folder.to_owned(),
            (Some((folder, _rest)), false) => format!("{within}/{folder}"),
            (None, true) => BESIDE.to_owned(),
            (None, false) => within.to_owned(),
        };
        parts.entry(name).or_default().push(file);
    }
    parts
        .into_iter()
        .map(|(name, files)| WorkspacePart { name, files })
        .collect()
}
