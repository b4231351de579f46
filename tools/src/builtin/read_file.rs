//! `read_file`: reads a text file of the workspace.

use std::num::NonZeroUsize;

use interrupt_router::Outcome;
use interrupts::store::Repeating;
use schemars::JsonSchema;
use serde::Deserialize;

use super::file_tool::FileWork;
use super::{Ended, spec_of};
use crate::tool::{Interruption, ToolContext, ToolOutput, ToolSpec};

/// The most lines that are returned at once, and the most bytes.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 255 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadFile {
    #[schemars(length(min = 1))]
    path: String,
    /// From 1, which is the default.
    first_line: Option<NonZeroUsize>,
    /// How many lines at most.
    lines: Option<NonZeroUsize>,
}

impl FileWork for ReadFile {
    fn spec() -> ToolSpec {
        let description = format!(
            "Reads a text file of the workspace. Returns at most {MOST_LINES} lines at once, and says how to get the next."
        );
        let (interruption, repeating) = (Interruption::Waits, Repeating::Idempotent);
        spec_of::<Self>("read_file", description, interruption, repeating)
    }

    fn run(self, context: &ToolContext) -> Ended {
        let text = context.workspace.read_text(&self.path)?;
        Ok(Outcome::Completed(ToolOutput::done(part(&text, &self))))
    }
}

fn part(text: &str, given: &ReadFile) -> String {
    let first = given.first_line.map_or(1, NonZeroUsize::get);
    let most = given
        .lines
        .map_or(MOST_LINES, NonZeroUsize::get)
        .min(MOST_LINES);
    let mut part = String::new();
    let mut taken = 0;
    for line in text.split_inclusive('\n').skip(first - 1).take(most) {
        if taken > 0 && part.len() + line.len() > MOST_BYTES {
            break;
        }
        part.push_str(line);
        taken += 1;
    }
    let (next, all) = (first + taken, text.split_inclusive('\n').count());
    if next <= all {
        if !part.ends_with('\n') {
            part.push('\n');
        }
        part.push_str(&format!(
            "[{} of {all} lines; the next is line {next}]",
            taken
        ));
    }
    part
}
