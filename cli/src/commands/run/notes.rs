//! What the user should know before a run starts, though nothing is wrong.

use agents::workspace::Workspace;

/// The note if a script has steps that the chosen model does not follow.
const DEAF_MODEL: &str = "note: the script's `interrupt` and `answer` steps steer the rehearsal alone; \
    this model answers for itself";

/// The notes, one line each.
pub(super) fn notes(workspace: &Workspace, is_deaf: bool) -> Vec<String> {
    let deaf = is_deaf.then(|| DEAF_MODEL.to_owned());
    deaf.into_iter().chain(of_workspace(workspace)).collect()
}

/// The files of the folder that the run does not see.
fn of_workspace(workspace: &Workspace) -> Option<String> {
    let left_out = workspace.left_out();
    let counts = [
        (left_out.binary, "no text"),
        (left_out.too_large, "too large"),
        (left_out.unreadable, "unreadable"),
        (left_out.links, "links"),
        (left_out.beyond_limits, "beyond the limits"),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _why)| *count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
    match (workspace.files().len(), parts.is_empty()) {
        (0, true) => {
            Some("note: the folder is empty, so the agents have nothing to speak about".to_owned())
        }
        (0, false) => Some(format!(
            "note: nothing in the folder can be read ({}), so the agents have nothing to speak about",
            parts.join(", ")
        )),
        (_, true) => None,
        (files, false) => Some(format!(
            "note: files read: {files}; left out: {}",
            parts.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Workspace, notes};

    #[test]
    fn what_is_not_seen_of_a_folder_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let told =
            |folder: &tempfile::TempDir| notes(&Workspace::open(folder.path()).unwrap(), false);
        assert!(told(&folder)[0].contains("the folder is empty"));
        fs::write(folder.path().join("picture.png"), b"\x89PNG\0\0").unwrap();
        assert!(told(&folder)[0].contains("nothing in the folder can be read (1 no text)"));
        fs::write(folder.path().join("a.md"), "# A\n").unwrap();
        assert_eq!(told(&folder), ["note: files read: 1; left out: 1 no text"]);
        fs::remove_file(folder.path().join("picture.png")).unwrap();
        assert!(told(&folder).is_empty());
    }

    #[test]
    fn a_model_that_does_not_follow_the_script_is_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.md"), "# A\n").unwrap();
        let told = notes(&Workspace::open(folder.path()).unwrap(), true);
        assert!(told[0].contains("steer the rehearsal alone"), "{told:?}");
    }
}
