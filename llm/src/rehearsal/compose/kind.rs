//! Which kind of value a schema speaks of.

use serde_json::Value;

use crate::rehearsal::schema_view::{Demands, names_type};

/// What kind of value satisfies demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    List,
    Object,
}

/// The kind that the `type` names first, null last; else the one that the other keywords speak of.
pub(super) fn kind(demands: &Demands) -> ValueKind {
    let kinds = [
        ("object", ValueKind::Object),
        ("array", ValueKind::List),
        ("string", ValueKind::Text),
        ("integer", ValueKind::Integer),
        ("number", ValueKind::Number),
        ("boolean", ValueKind::Boolean),
        ("null", ValueKind::Null),
    ];
    if let Some(types) = demands.get("type") {
        return kinds
            .into_iter()
            .find(|(name, _)| names_type(types, name))
            .map_or(ValueKind::Null, |(_, kind)| kind);
    }
    let speaks_of = |keywords: &[&str]| keywords.iter().any(|word| demands.contains_key(*word));
    if speaks_of(&[
        "properties",
        "required",
        "additionalProperties",
        "minProperties",
    ]) {
        ValueKind::Object
    } else if speaks_of(&[
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
    ]) {
        ValueKind::List
    } else if speaks_of(&[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]) {
        ValueKind::Number
    } else {
        ValueKind::Text
    }
}

pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
