//! References lead to definitions, and each definition is reached.

use serde_json::{Map, Value};

use super::{Report, each_schema};
use crate::schema::definition::{definitions, reference, resolve};
use crate::schema::prune::reached;

/// Checks every reference, and every definition.
pub(super) fn check(schema: &Value, report: &mut Report) {
    let none = Map::new();
    let definitions = definitions(schema).unwrap_or(&none);
    each_schema(schema, |path, schema| {
        if reference(schema).is_some() && resolve(schema, definitions).is_none() {
            report.forbid("references that lead nowhere", path);
        }
    });
    let reached = reached(schema, definitions);
    for name in definitions.keys() {
        if !reached.contains(name) {
            report.forbid(
                "definitions that nothing refers to",
                &format!("#/$defs/{name}"),
            );
        }
    }
}
