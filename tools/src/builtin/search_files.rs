//! `search_files`: finds lines in the files of the workspace.

use async_trait::async_trait;
use ignore::overrides::OverrideBuilder;
use interrupts::store::Repeating;
use regex::Regex;
use routing_core::Outcome;
use serde::Deserialize;
use serde_json::json;

use super::walk::Walk;
use super::{arguments, blocking, path_of};
use crate::tool::{
    Interruption, PartialOutput, Tool, ToolCall, ToolContext, ToolError, ToolName, ToolOutput,
    ToolSpec,
};
use crate::workspace::Workspace;

/// The most lines that are returned, and the most characters of each.
const MOST_LINES: usize = 200;
const LONGEST_LINE: usize = 300;

/// Finds the lines of the workspace's files that fit a regular expression.
#[derive(Debug, Clone)]
pub struct SearchFiles {
    spec: ToolSpec,
}

#[derive(Deserialize)]
struct SearchFilesArguments {
    pattern: String,
    path: Option<String>,
    files: Option<String>,
}

impl Default for SearchFiles {
    fn default() -> Self {
        Self::new()
    }
}

impl SearchFiles {
    /// The tool.
    pub fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: ToolName::fixed("search_files"),
                description: format!(
                    "Finds the lines of the workspace's text files that fit a regular expression, without hidden and \
                     ignored files. Returns `path:line: text`, at most {MOST_LINES} lines."
                ),
                arguments: json!({
                    "type": "object",
                    "properties": {
                        "pattern": {"type": "string", "minLength": 1, "description": "The regular expression."},
                        "path": {"type": "string", "description": "The folder; without it the whole workspace."},
                        "files": {"type": "string", "description": "A glob that files must fit, such as `*.rs`."},
                    },
                    "required": ["pattern"],
                    "additionalProperties": false,
                }),
                interruption: Interruption::Stops,
                repeating: Repeating::Idempotent,
            },
        }
    }
}

#[async_trait]
impl Tool for SearchFiles {
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
        let given: SearchFilesArguments = arguments(call)?;
        let pattern = Regex::new(&given.pattern).map_err(|error| ToolError::Unusable {
            reason: error.to_string(),
        })?;
        blocking(context, move |context| search(&given, &pattern, context)).await
    }
}

fn search(
    given: &SearchFilesArguments,
    pattern: &Regex,
    context: &ToolContext,
) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
    let mut found = Vec::new();
    let walk = walk(given, context)?;
    for path in files(&walk, context) {
        if context.scope.is_stopped_now()
            && let Some(reason) = context.scope.reason()
        {
            let partial = PartialOutput::returned(found.join("\n"));
            return Ok(Outcome::Interrupted { reason, partial });
        }
        // What is no text, or is gone meanwhile, has no lines.
        let Ok(text) = context.workspace.read_text(&path) else {
            continue;
        };
        for (index, line) in text
            .lines()
            .enumerate()
            .filter(|(_index, line)| pattern.is_match(line))
        {
            if found.len() == MOST_LINES {
                found.push(format!(
                    "[more than {MOST_LINES} lines: narrow the pattern, the folder or the files]"
                ));
                walk.note(&mut found);
                return Ok(Outcome::Completed(ToolOutput::done(found.join("\n"))));
            }
            let shown: String = line.chars().take(LONGEST_LINE).collect();
            found.push(format!("{path}:{}: {shown}", index + 1));
        }
    }
    if found.is_empty() {
        found.push("[no line fits]".to_owned());
    }
    walk.note(&mut found);
    Ok(Outcome::Completed(ToolOutput::done(found.join("\n"))))
}

fn walk(given: &SearchFilesArguments, context: &ToolContext) -> Result<Walk, ToolError> {
    let workspace = &context.workspace;
    let folder = workspace.directory(given.path.as_deref().unwrap_or("."))?;
    let mut walk = Walk::through(workspace, &folder);
    if let Some(glob) = &given.files {
        let unusable = |error: ignore::Error| ToolError::Unusable {
            reason: error.to_string(),
        };
        let mut only = OverrideBuilder::new(&folder);
        only.add(glob).map_err(unusable)?;
        walk.builder.overrides(only.build().map_err(unusable)?);
    }
    Ok(walk)
}

/// The paths of the files to look into, in their order.
fn files(walk: &Walk, context: &ToolContext) -> impl Iterator<Item = String> {
    let root = context.workspace.root().to_owned();
    let files = walk.builder.build().filter_map(Result::ok);
    let files = files.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.filter_map(move |entry| Some(entry.path().strip_prefix(&root).ok()?.to_str()?.to_owned()))
}
