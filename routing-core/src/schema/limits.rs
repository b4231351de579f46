//! The limits that providers publish for schemas, and the check of a schema against them.
//!
//! Sources, by page: OpenAI, "Structured model outputs", section "Supported schemas"; Anthropic,
//! "Structured outputs", sections "JSON Schema limitations" and "Schema complexity limits"; Google,
//! "Structured outputs", section "JSON schema support", and the Gemini API reference at
//! `GenerationConfig.responseJsonSchema`. Where a page leaves open how something is counted, it is
//! counted the way that gives the higher figure.

mod count;
mod expand;
mod name;
mod reference;
mod remedy;
mod shape;

use std::fmt::{self, Display};

use serde_json::Value;

pub(crate) use name::is_taken_name;

use super::definition::definitions;
use super::{AnswerSchema, Dialect, walk};

/// OpenAI, "Supported schemas": properties of objects in the whole schema.
const OPENAI_PROPERTIES: usize = 5_000;
/// OpenAI, "Supported schemas": levels of nesting. The page does not say whether lists are levels:
/// here they are, and so is the root.
const OPENAI_LEVELS: usize = 10;
/// OpenAI, "Supported schemas": characters of all names of properties and definitions and all values
/// of enumerations and constants.
const OPENAI_NAME_CHARACTERS: usize = 120_000;
/// OpenAI, "Supported schemas": values of all enumerations.
const OPENAI_ENUM_VALUES: usize = 1_000;
/// OpenAI, "Supported schemas": an enumeration of more strings than this …
const OPENAI_LARGE_ENUM: usize = 250;
/// … may have this many characters in all.
const OPENAI_LARGE_ENUM_CHARACTERS: usize = 15_000;
/// Anthropic, "Schema complexity limits": optional parameters of all schemas of a request.
const ANTHROPIC_OPTIONAL: usize = 24;
/// Anthropic, "Schema complexity limits": parameters with a list of types or `anyOf`.
const ANTHROPIC_UNIONS: usize = 16;

/// A limit that a schema breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitViolation {
    /// Whose limit.
    pub dialect: Dialect,
    /// What is limited, in words.
    pub rule: &'static str,
    /// How much is allowed; 0 for what is forbidden.
    pub limit: usize,
    /// How much there is.
    pub found: usize,
    /// Where, as a JSON pointer: `#` is the whole schema.
    pub path: String,
    /// What helps.
    pub remedy: &'static str,
}

impl Display for LimitViolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            dialect,
            rule,
            limit,
            found,
            path,
            remedy: _,
        } = self;
        write!(
            formatter,
            "{dialect}: {rule}: {found} at {path}, at most {limit}"
        )
    }
}

/// Checks a schema against the limits of its dialect's provider. Plain JSON Schema has none, but its references must
/// lead somewhere, and no definition may be unused.
///
/// Empty if the schema keeps every limit.
pub fn check_limits(schema: &AnswerSchema) -> Vec<LimitViolation> {
    violations(schema.value(), schema.dialect())
}

/// Checks a schema as a tree.
pub(super) fn violations(schema: &Value, dialect: Dialect) -> Vec<LimitViolation> {
    let mut report = Report {
        dialect,
        violations: Vec::new(),
    };
    reference::check(schema, &mut report);
    if !matches!(dialect, Dialect::JsonSchema | Dialect::Grammar) {
        shape::check_root(schema, &mut report);
        each_schema(schema, |path, schema| {
            shape::check(path, schema, &mut report);
        });
    }
    match dialect {
        // What a server makes of a grammar has no published limits.
        Dialect::JsonSchema | Dialect::Grammar => {}
        Dialect::OpenAiStrict => {
            count::check(schema, &mut report);
            expand::check_levels(schema, OPENAI_LEVELS, &mut report);
        }
        Dialect::Anthropic => {
            expand::check_recursion(schema, expand::Edges::All, &mut report);
            expand::check_options(schema, &mut report);
        }
        Dialect::Gemini => expand::check_recursion(schema, expand::Edges::Required, &mut report),
    }
    report.violations
}

/// The first limit that the schema of a tool's arguments breaks, if it breaks one.
pub(super) fn tool_violation(schema: &Value, dialect: Dialect) -> Option<LimitViolation> {
    let mut report = Report {
        dialect,
        violations: Vec::new(),
    };
    shape::check_root(schema, &mut report);
    reference::check(schema, &mut report);
    if dialect == Dialect::Gemini {
        expand::check_recursion(schema, expand::Edges::Required, &mut report);
    }
    report.violations.into_iter().next()
}

/// What has been found so far.
struct Report {
    dialect: Dialect,
    violations: Vec<LimitViolation>,
}

impl Report {
    /// Something that may not be there at all.
    fn forbid(&mut self, rule: &'static str, path: &str) {
        self.limit(rule, 0, 1, path);
    }

    /// Something of which there may be so much.
    fn limit(&mut self, rule: &'static str, limit: usize, found: usize, path: &str) {
        if found > limit {
            self.violations.push(LimitViolation {
                dialect: self.dialect,
                rule,
                limit,
                found,
                path: path.to_owned(),
                remedy: remedy::of(rule),
            });
        }
    }
}

/// Calls `visit` with every schema within, definitions included, and where it is.
fn each_schema<'a>(schema: &'a Value, mut visit: impl FnMut(&str, &'a Value)) {
    let mut open = vec![("#".to_owned(), schema)];
    if let Some(definitions) = definitions(schema) {
        for (name, definition) in definitions {
            open.push((format!("#/$defs/{name}"), definition));
        }
    }
    open.reverse();
    while let Some((path, schema)) = open.pop() {
        visit(&path, schema);
        let first = open.len();
        walk::children(schema, |_keyword, place, child| {
            open.push((format!("{path}/{place}"), child));
        });
        open[first..].reverse();
    }
}
