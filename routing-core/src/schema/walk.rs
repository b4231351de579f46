//! The places in a schema that contain other schemas.

use serde_json::{Map, Value};

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

/// Keywords whose value maps names to schemas. `$defs` is none of them: definitions are not part of the schema that
/// contains them.
const MAP: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// Calls `visit` with each schema directly inside, the keyword it is under, and its name or place there.
pub(super) fn children<'a>(schema: &'a Value, mut visit: impl FnMut(&'a str, String, &'a Value)) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match SubschemaKind::of(keyword, value) {
            SubschemaKind::List => {
                for (place, child) in value.as_array().into_iter().flatten().enumerate() {
                    visit(keyword, format!("{keyword}/{place}"), child);
                }
            }
            SubschemaKind::Map => {
                for (name, child) in value.as_object().into_iter().flatten() {
                    visit(keyword, format!("{keyword}/{name}"), child);
                }
            }
            SubschemaKind::One => visit(keyword, keyword.clone(), value),
            SubschemaKind::Nothing => {}
        }
    }
}

/// Calls `visit` with each schema directly inside, to be changed.
pub(super) fn children_mut(schema: &mut Value, mut visit: impl FnMut(&mut Value)) {
    for (keyword, value) in schema.as_object_mut().into_iter().flatten() {
        match SubschemaKind::of(keyword, value) {
            SubschemaKind::List => value
                .as_array_mut()
                .into_iter()
                .flatten()
                .for_each(&mut visit),
            SubschemaKind::Map => value
                .as_object_mut()
                .into_iter()
                .flat_map(Map::values_mut)
                .for_each(&mut visit),
            SubschemaKind::One => visit(value),
            SubschemaKind::Nothing => {}
        }
    }
}

/// How schemas are placed under a keyword.
enum SubschemaKind {
    One,
    List,
    Map,
    Nothing,
}

impl SubschemaKind {
    fn of(keyword: &str, value: &Value) -> Self {
        if ONE.contains(&keyword) {
            // `true` and `false` say whether there may be more, not what it looks like.
            if value.is_boolean() && keyword.ends_with("Properties") {
                Self::Nothing
            } else {
                Self::One
            }
        } else if LIST.contains(&keyword) {
            Self::List
        } else if MAP.contains(&keyword) {
            Self::Map
        } else {
            Self::Nothing
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
