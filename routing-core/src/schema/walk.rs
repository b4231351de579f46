//! The places in a schema where other schemas stand.

use serde_json::Value;

/// Keywords whose value is a schema.
const ONE: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords whose value maps names to schemas. `$defs` is none of them: definitions are not part of
/// the place where they stand.
const MAP: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// Calls `visit` with each schema directly inside, the keyword it stands under, and its name or
/// place there.
pub(super) fn children<'a>(schema: &'a Value, mut visit: impl FnMut(&'a str, String, &'a Value)) {
    let Value::Object(object) = schema else {
        return;
    };
    for (keyword, value) in object {
        match value {
            Value::Array(list) if LIST.contains(&keyword.as_str()) => {
                for (place, child) in list.iter().enumerate() {
                    visit(keyword, format!("{keyword}/{place}"), child);
                }
            }
            Value::Object(map) if MAP.contains(&keyword.as_str()) => {
                for (name, child) in map {
                    visit(keyword, format!("{keyword}/{name}"), child);
                }
            }
            // `true` and `false` say whether there may be more, not what it looks like.
            Value::Bool(_) if keyword.ends_with("Properties") => {}
            _ if ONE.contains(&keyword.as_str()) => visit(keyword, keyword.clone(), value),
            _ => {}
        }
    }
}

/// Calls `visit` with each schema directly inside, to be changed.
pub(super) fn children_mut(schema: &mut Value, mut visit: impl FnMut(&mut Value)) {
    let Value::Object(object) = schema else {
        return;
    };
    for (keyword, value) in object.iter_mut() {
        match value {
            Value::Array(list) if LIST.contains(&keyword.as_str()) => {
                list.iter_mut().for_each(&mut visit);
            }
            Value::Object(map) if MAP.contains(&keyword.as_str()) => {
                map.values_mut().for_each(&mut visit);
            }
            Value::Bool(_) if keyword.ends_with("Properties") => {}
            value if ONE.contains(&keyword.as_str()) => visit(value),
            _ => {}
        }
    }
}

/// Calls `visit` with the schema itself and every definition beside it.
pub(super) fn roots_mut(schema: &mut Value, mut visit: impl FnMut(&mut Value)) {
    let mut definitions = super::definition::take_definitions(schema);
    visit(schema);
    definitions.values_mut().for_each(&mut visit);
    super::definition::put_definitions(schema, definitions);
}
