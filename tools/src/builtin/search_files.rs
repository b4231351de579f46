//! `search_files`: finds lines in the files of the workspace.

use ignore::overrides::OverrideBuilder;
use interrupt_router::Outcome;
use interrupts::store::Repeating;
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::file_tool::FileWork;
use super::walk::Walk;
use super::{Ended, spec_of};
use crate::tool::{Interruption, PartialOutput, ToolContext, ToolError, ToolOutput, ToolSpec};

/// The most lines that are returned, and the most characters of each.
const MOST_LINES: usize = 200;
const LONGEST_LINE: usize = 300;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchFiles {
    /// The regular expression.
    #[schemars(length(min = 1))]
    pattern: String,
    /// The folder; without it the whole workspace.
    path: Option<String>,
    /// A glob that files must fit, such as `*.rs`.
    files: Option<String>,
}

impl FileWork for SearchFiles {
    fn spec() -> ToolSpec {
        let description = format!(
            "Finds the lines of the workspace's text files that fit a regular expression, without hidden and ignored files. \
             Returns `path:line: text`, at most {MOST_LINES} lines."
        );
        let (interruption, repeating) = (Interruption::Stops, Repeating::Idempotent);
        spec_of::<Self>("search_files", description, interruption, repeating)
    }

    fn run(self, context: &ToolContext) -> Ended {
        let pattern = Regex::new(&self.pattern).map_err(|error| ToolError::Unusable {
            reason: error.to_string(),
        })?;
        search(&self, &pattern, context)
    }
}

fn search(given: &SearchFiles, pattern: &Regex, context: &ToolContext) -> Ended {
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

fn walk(given: &SearchFiles, context: &ToolContext) -> Result<Walk, ToolError> {
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
