//! `read_file`: reads a text file of the workspace.

use async_trait::async_trait;
use interrupts::store::Repeating;
use routing_core::Outcome;
use serde::Deserialize;
use serde_json::json;

use super::{arguments, blocking, path_of};
use crate::tool::{
    Interruption, PartialOutput, Tool, ToolCall, ToolContext, ToolError, ToolName, ToolOutput,
    ToolSpec,
};
use crate::workspace::Workspace;

/// The most lines that are returned at once, and the most bytes.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 255 * 1024;

/// Reads a text file of the workspace, whole or some of its lines.
#[derive(Debug, Clone)]
pub struct ReadFile {
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct ReadFileArguments {
    path: String,
    first_line: Option<usize>,
    lines: Option<usize>,
}

impl Default for ReadFile {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadFile {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: ToolName::fixed("read_file"),
                description: format!(
                    "Reads a text file of the workspace. Returns at most {MOST_LINES} lines at once, and says how to \
                     get the next."
                ),
                arguments: json!({
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "minLength": 1},
                        "first_line": {"type": "integer", "minimum": 1, "description": "From 1, which is the default."},
                        "lines": {"type": "integer", "minimum": 1, "description": "How many lines at most."},
                    },
                    "required": ["path"],
                    "additionalProperties": false,
                }),
                interruption: Interruption::Waits,
                repeating: Repeating::Idempotent,
            },
        }
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn path(&self, call: &ToolCall, _workspace: &Workspace) -> Option<String> {
        path_of(call)
    }

    fn keeps_to_paths(&self) -> bool {
        true
    }

    async fn call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
        let given: ReadFileArguments = arguments(call)?;
        blocking(context, move |context| {
            let text = context.workspace.read_text(&given.path)?;
            Ok(Outcome::Completed(ToolOutput::done(part(&text, &given))))
        })
        .await
    }
}

fn part(text: &str, given: &ReadFileArguments) -> String {
    let first = given.first_line.unwrap_or(1);
    let most = given.lines.unwrap_or(MOST_LINES).min(MOST_LINES);
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
