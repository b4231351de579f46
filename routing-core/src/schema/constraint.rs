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
    format_counts || bound_counts
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
