//! `edit_file`: replaces a piece of a file.

use interrupts::store::Repeating;
use schemars::JsonSchema;
use serde::Deserialize;

use super::file_change::FileChange;
use crate::builtin::spec_of;
use crate::tool::{Interruption, ToolError, ToolSpec};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditFile {
    #[schemars(length(min = 1))]
    path: String,
    /// The piece, with all of its spaces.
    #[schemars(length(min = 1))]
    old: String,
    /// What comes in its place.
    new: String,
    #[serde(default)]
    everywhere: bool,
}

impl FileChange for EditFile {
    fn spec() -> ToolSpec {
        let description = "Replaces a piece of a text file of the workspace, and returns the change as a diff. The old piece must be in \
                           the file exactly once, unless it is to be replaced everywhere.";
        let (interruption, repeating) = (Interruption::Waits, Repeating::AskPerson);
        spec_of::<Self>("edit_file", description.to_owned(), interruption, repeating)
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn after(&self, before: Option<&str>) -> Result<String, ToolError> {
        let unusable = |reason: String| Err(ToolError::Unusable { reason });
        let Some(before) = before else {
            return unusable(format!("there is no file `{}`", self.path));
        };
        match before.matches(&self.old).count() {
            0 => unusable(format!("the old piece is not in `{}`", self.path)),
            1 => Ok(before.replacen(&self.old, &self.new, 1)),
            _ if self.everywhere => Ok(before.replace(&self.old, &self.new)),
            times => unusable(format!(
                "the old piece is in `{}` {times} times; give more of it",
                self.path
            )),
        }
    }
}
