//! Whether a schema demands more than reading an answer into its types enforces.

use serde_json::{Map, Value};

use super::definition::definitions;
use super::integer::{IntegerType, is_float_format};
use super::walk;

/// Keywords that no type of serde's enforces.
const BEYOND_TYPES: [&str; 24] = [
    "minLength",
    "maxLength",
    "pattern",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "propertyNames",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "not",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentEncoding",
    "contentMediaType",
];

/// Whether the schema, or a definition of it, demands more than types.
pub(super) fn has_constraints(schema: &Value) -> bool {
    constrains(schema)
        || definitions(schema).is_some_and(|definitions| definitions.values().any(constrains))
}

fn constrains(schema: &Value) -> bool {
    let mut found = constrains_itself(schema);
    walk::children(schema, |_keyword, _place, child| {
        found = found || constrains(child);
    });
    found
}

fn constrains_itself(schema: &Value) -> bool {
    let Value::Object(object) = schema else {
        return false;
    };
    let is_tuple = is_tuple(object);
    if BEYOND_TYPES
        .iter()
        .any(|keyword| object.contains_key(*keyword) && !(is_tuple && keyword.ends_with("Items")))
    {
        return true;
    }
    let integer = IntegerType::of(object);
    let format_counts = object
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| integer.is_none() && !is_float_format(format));
    let bound_counts = ["minimum", "maximum"].iter().any(|keyword| {
        object
            .get(*keyword)
            .is_some_and(|bound| !integer.is_some_and(|integer| integer.implies(keyword, bound)))
    });
    format_counts || bound_counts || is_buffered_union(schema)
}

/// Whether a list has as many elements as it has types, which reading enforces.
fn is_tuple(object: &Map<String, Value>) -> bool {
    let types = object.get("prefixItems").and_then(Value::as_array);
    types.is_some_and(|types| {
        ["minItems", "maxItems"]
            .iter()
            .all(|bound| object.get(*bound) == Some(&types.len().into()))
    })
}

/// Whether serde reads this union from a buffer, where reading is not strict.
///
/// schemars writes untagged enums as `anyOf`, and so options, whose other branch is null. Enums with
/// tags are `oneOf`; those whose tag is the name of their one property are not buffered.
fn is_buffered_union(schema: &Value) -> bool {
    let mut branches = 0_usize;
    let mut is_buffered = false;
    walk::children(schema, |keyword, _place, child| {
        if !matches!(keyword, "anyOf" | "oneOf") || is_null(child) {
            return;
        }
        branches += 1;
        let is_constant = child.get("const").is_some() || child.get("enum").is_some();
        let is_read_strictly = is_constant || (keyword == "oneOf" && is_named_by_property(child));
        is_buffered = is_buffered || !is_read_strictly;
    });
    branches > 1 && is_buffered
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

fn is_named_by_property(object: &Value) -> bool {
    let properties = object.get("properties").and_then(Value::as_object);
    let required = object.get("required").and_then(Value::as_array);
    match (properties, required) {
        (Some(properties), Some(required)) if properties.len() == 1 && required.len() == 1 => {
            properties
                .values()
                .all(|property| property.get("const").is_none())
        }
        _ => false,
    }
}
