//! Leaving out of a schema what it does not reach.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::definition::{put_definitions, reference, take_definitions};
use super::{definition, walk};

/// Removes the definitions that the schema does not reach, also by way of others.
pub(super) fn prune(schema: &mut Value) {
    let mut definitions = take_definitions(schema);
    let reached = reached(schema, &definitions);
    definitions.retain(|name, _definition| reached.contains(name));
    put_definitions(schema, definitions);
}

/// The names that the schema refers to, also by way of definitions; there need be none of a name.
pub(super) fn reached(schema: &Value, definitions: &Map<String, Value>) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = names(schema);
    while let Some(name) = open.pop() {
        if let Some(definition) = definitions.get(&name)
            && !reached.contains(&name)
        {
            open.extend(names(definition));
        }
        reached.insert(name);
    }
    reached
}

/// The names that a schema itself refers to, its definitions left aside.
fn names(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        names.extend(reference(schema).and_then(definition::definition_name));
        walk::children(schema, |_keyword, _place, child| open.push(child));
    }
    names
}
