//! `write_file`: writes a whole file.

use interrupts::store::Repeating;
use schemars::JsonSchema;
use serde::Deserialize;

use super::file_change::FileChange;
use crate::builtin::spec_of;
use crate::tool::{Interruption, ToolError, ToolSpec};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteFile {
    #[schemars(length(min = 1))]
    path: String,
    /// The whole new text.
    content: String,
}

impl FileChange for WriteFile {
    fn spec() -> ToolSpec {
        let description = "Writes a text file of the workspace, a new one or in place of what was there, and returns the change as a \
                           diff. Missing folders are made.";
        // The same text written again is the same file.
        let (interruption, repeating) = (Interruption::Waits, Repeating::Idempotent);
        spec_of::<Self>(
            "write_file",
            description.to_owned(),
            interruption,
            repeating,
        )
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn after(&self, _before: Option<&str>) -> Result<String, ToolError> {
        Ok(self.content.clone())
    }
}
