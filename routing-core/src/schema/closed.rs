//! Objects that take no other properties than theirs.
//!
//! Answers are read strictly: a field that a type does not have is refused at any depth. Schemas say
//! so too, though schemars leaves objects open unless their type denies unknown fields.

use serde_json::{Map, Value};

use super::walk::{children_mut, roots_mut};

/// Keywords under which there are parts of the same object, which see only their own properties.
const PARTS: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

/// Keywords that say which properties an object may have besides its own, or that it may have some.
const OPEN: [&str; 6] = [
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
];

/// Closes every object that has properties of its own and no parts, and those that have none of any kind, as a
/// struct without fields.
pub(super) fn close(schema: &mut Value) {
    roots_mut(schema, close_tree);
}

fn close_tree(schema: &mut Value) {
    if let Value::Object(object) = schema
        && object.get("type").and_then(Value::as_str) == Some("object")
        && !OPEN
            .iter()
            .chain(&PARTS)
            .any(|keyword| object.contains_key(*keyword))
    {
        object
            .entry("properties")
            .or_insert_with(|| Map::new().into());
    }
    if let Value::Object(object) = schema
        && object.contains_key("properties")
    {
        if PARTS.iter().any(|part| object.contains_key(*part)) {
            // Its parts could not be merged, so nothing in it may be closed.
            return;
        }
        object.shift_remove("unevaluatedProperties");
        object.entry("additionalProperties").or_insert(false.into());
    }
    children_mut(schema, close_tree);
}
