//! Schemas of older drafts in the words of draft 2020-12.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::schema::definition::{definition_name, put_definitions, reference, take_definitions};
use crate::schema::walk::{children, children_mut, roots_mut};

/// The types of draft 2020-12.
const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// The schema in the words of draft 2020-12, its references all to definitions at its root. A reference that leads out of
/// it stays.
pub fn updated(schema: &Value) -> Value {
    let mut updated = schema.clone();
    if let Value::Object(root) = &mut updated {
        root.shift_remove("$schema");
        root.shift_remove("definitions");
    }
    let mut definitions = take_definitions(&mut updated);
    let mut names = BTreeMap::new();
    let mut open = vec![updated.clone()];
    open.extend(definitions.values().cloned());
    while let Some(tree) = open.pop() {
        for found in references(&tree) {
            let is_definition =
                definition_name(&found).is_some_and(|it| definitions.contains_key(&it));
            if is_definition || names.contains_key(&found) {
                continue;
            }
            let Some(target) = target(schema, &found) else {
                continue;
            };
            let name = free_name(&found, &definitions);
            definitions.insert(name.clone(), target.clone());
            names.insert(found, name);
            open.push(target);
        }
    }
    put_definitions(&mut updated, definitions);
    roots_mut(&mut updated, |tree| {
        refer(tree, &names);
        modernise(tree);
    });
    updated
}

/// What a reference within a schema leads to, without the definitions that it may have.
fn target(schema: &Value, reference: &str) -> Option<Value> {
    let pointer = reference
        .strip_prefix('#')?
        .replace("%24", "$")
        .replace("%25", "%");
    let mut target = schema.pointer(&pointer)?.clone();
    if let Value::Object(object) = &mut target {
        for keyword in ["$schema", "$defs", "definitions"] {
            object.shift_remove(keyword);
        }
    }
    Some(target)
}

/// A name that no definition has, from the end of a reference.
fn free_name(reference: &str, definitions: &Map<String, Value>) -> String {
    let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
    let plain: String = last.chars().filter(char::is_ascii_alphanumeric).collect();
    let first = if plain.is_empty() {
        "root".to_owned()
    } else {
        plain
    };
    let mut name = first.clone();
    let mut number = 1;
    while definitions.contains_key(&name) {
        number += 1;
        name = format!("{first}{number}");
    }
    name
}

/// The references of a schema itself and of what is within.
fn references(schema: &Value) -> Vec<String> {
    let mut found: Vec<String> = reference(schema).map(str::to_owned).into_iter().collect();
    children(schema, |_keyword, _place, child| {
        found.extend(references(child))
    });
    found
}

fn refer(schema: &mut Value, names: &BTreeMap<String, String>) {
    children_mut(schema, |child| refer(child, names));
    let name = reference(schema).and_then(|reference| names.get(reference));
    if let (Some(name), Value::Object(object)) = (name.cloned(), schema) {
        object.insert("$ref".to_owned(), format!("#/$defs/{name}").into());
    }
}

fn modernise(schema: &mut Value) {
    if let Value::Object(object) = schema {
        for (exclusive, bound) in [
            ("exclusiveMinimum", "minimum"),
            ("exclusiveMaximum", "maximum"),
        ] {
            match object.get(exclusive) {
                Some(Value::Bool(true)) => {
                    object.shift_remove(exclusive);
                    if let Some(bound) = object.shift_remove(bound) {
                        object.insert(exclusive.to_owned(), bound);
                    }
                }
                Some(Value::Bool(false)) => {
                    object.shift_remove(exclusive);
                }
                _ => {}
            }
        }
        if let Some(Value::Array(_)) = object.get("items") {
            if let Some(items) = object.shift_remove("items") {
                object.insert("prefixItems".to_owned(), items);
            }
            if let Some(more) = object.shift_remove("additionalItems") {
                object.insert("items".to_owned(), more);
            }
        }
        if object
            .get("required")
            .is_some_and(|required| !required.is_array())
        {
            object.shift_remove("required");
        }
        if object.get("type").is_some_and(|kind| !is_type(kind)) {
            object.shift_remove("type");
        }
    }
    children_mut(schema, modernise);
}

fn is_type(kind: &Value) -> bool {
    let is_one = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    match kind.as_array() {
        Some(kinds) => !kinds.is_empty() && kinds.iter().all(is_one),
        None => is_one(kind),
    }
}
