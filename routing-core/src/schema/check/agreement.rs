//! Whether the schema of a route allows what its reader takes, and nothing else.

use super::RecordProblem;
use super::probe::{Probe, SchemaVerdict, Seen, probes};
use crate::answer::{AnswerError, AnswerFault};
use crate::model::Dialect;
use crate::route::RouteId;
use crate::routing::Routing;

/// Every probe of which schema and reader say different things; each place once, and nothing of definitions that were
/// seen.
pub(super) fn disagreements<R: Routing>(route: RouteId<R>, seen: &mut Seen) -> Vec<RecordProblem> {
    let schema = R::schemas().narrowed_unchecked(route, Dialect::JsonSchema);
    let mut problems: Vec<RecordProblem> = Vec::new();
    probes(schema.value(), seen, &mut |probe| {
        let read = R::__parse_narrowed(route.index(), probe.answer.to_string().as_bytes());
        let Some((pointer, fault, remedy)) = difference(&probe, read.err().as_ref()) else {
            return;
        };
        // If one answer is refused for a part, every answer with that part is.
        if problems.iter().any(|known| known.pointer == pointer) {
            return;
        }
        problems.push(RecordProblem {
            record: R::NAME,
            route: Some(route.field()),
            pointer,
            fault,
            remedy: remedy.to_owned(),
        });
    });
    problems
}

fn difference(
    probe: &Probe,
    refusal: Option<&AnswerError>,
) -> Option<(String, String, &'static str)> {
    let (fault, remedy) = match (&probe.verdict, refusal) {
        (SchemaVerdict::Allowed, Some(error)) => {
            let fault = format!(
                "the schema allows what the reader refuses: {}",
                error.reason()
            );
            return Some((pointer(error.path()), fault, remedy(error)));
        }
        (SchemaVerdict::Allowed, None)
        | (SchemaVerdict::Unknown | SchemaVerdict::Missing | SchemaVerdict::OtherValue, Some(_)) => {
            return None;
        }
        (SchemaVerdict::Unknown, None) => (
            "the reader takes a property that the schema does not have",
            "put `#[serde(deny_unknown_fields)]` on the type, or allow the property in its schema",
        ),
        (SchemaVerdict::Missing, None) => (
            "the reader takes an answer without a property that the schema requires",
            "take away `#[schemars(required)]`, or what the reader puts in its place",
        ),
        (SchemaVerdict::OtherValue, None) => (
            "the reader takes a value that the schema forbids",
            "give `with` to serde and schemars alike, or let the schema say what else may stand here",
        ),
    };
    Some((probe.pointer.clone(), fault.to_owned(), remedy))
}

/// What helps if the reader refuses what the schema allows.
fn remedy(error: &AnswerError) -> &'static str {
    let reason = error.reason();
    if error.fault() == AnswerFault::UnknownField || reason.starts_with("unknown variant") {
        "name it once, for both: `#[serde(rename = ...)]`, which schemars follows, in place of \
         `#[schemars(rename = ...)]`"
    } else if reason.starts_with("missing field") {
        "let the schema require it under the reader's name: take away `#[schemars(skip)]` or \
         `#[schemars(rename = ...)]`; or let the reader do without it: `#[serde(default)]`"
    } else {
        "give `with` to serde and schemars alike; where only some values are taken, let the schema say which: \
         `#[schemars(range(...))]`, `#[schemars(example = ...)]`"
    }
}

/// `$.a.b[2]["c d"]` as `#/a/b/2/c d`.
fn pointer(path: &str) -> String {
    let mut pointer = "#".to_owned();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    while let Some(start) = rest.chars().next() {
        let (key, after) = match rest.strip_prefix('[') {
            Some(inner) => inner.split_once(']').unwrap_or((inner, "")),
            None => {
                let key = rest.strip_prefix('.').unwrap_or(rest);
                let end = key.find(['.', '[']).unwrap_or(key.len());
                key.split_at(end.max(usize::from(start != '.')))
            }
        };
        pointer.push('/');
        pointer.push_str(&key.trim_matches('"').replace('~', "~0").replace('/', "~1"));
        rest = after;
    }
    pointer
}
