//! Objects that take no other properties than theirs.
//!
//! Answers are read strictly: a field that a type does not have is refused at any depth. Schemas say
//! so too, though schemars leaves objects open unless their type denies unknown fields.

use serde_json::{Map, Value};

use super::walk::{children_mut, roots_mut};

/// Keywords under which the schemas of parts of the same object stand.
const PARTS: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"];

/// Closes every object that has properties.
pub(super) fn close(schema: &mut Value) {
    roots_mut(schema, close_tree);
}

fn close_tree(schema: &mut Value) {
    if let Value::Object(object) = schema
        && object.contains_key("properties")
    {
        if PARTS.iter().any(|part| object.contains_key(*part)) {
            // The parts see only their own properties, so none of them may be closed.
            open_parts(object);
            object.shift_remove("additionalProperties");
            object.insert("unevaluatedProperties".to_owned(), false.into());
        } else if !object.contains_key("additionalProperties")
            && !object.contains_key("unevaluatedProperties")
        {
            object.insert("additionalProperties".to_owned(), false.into());
        }
    }
    let composed = schema.get("unevaluatedProperties").is_some();
    children_mut(schema, |child| {
        if composed {
            close_below_part(child);
        } else {
            close_tree(child);
        }
    });
}

/// A part of a composed object stays open, what is inside of it does not.
fn close_below_part(part: &mut Value) {
    let is_part = part.get("properties").is_some() && part.get("additionalProperties").is_none();
    if is_part {
        children_mut(part, close_tree);
    } else {
        close_tree(part);
    }
}

fn open_parts(object: &mut Map<String, Value>) {
    for list in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Array(parts)) = object.get_mut(list) {
            for part in parts.iter_mut().filter_map(Value::as_object_mut) {
                part.shift_remove("additionalProperties");
            }
        }
    }
}
