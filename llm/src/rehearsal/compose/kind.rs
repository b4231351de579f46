//! Which kind of value a schema speaks of.

use serde_json::Value;

use crate::rehearsal::schema_view::{Demands, names_type};

/// What kind of value satisfies demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    List,
    Object,
}

/// The kind that the `type` names first, null last; else the one that the other keywords speak of.
pub(super) fn kind(demands: &Demands) -> Kind {
    let kinds = [
        ("object", Kind::Object),
        ("array", Kind::List),
        ("string", Kind::Text),
        ("integer", Kind::Integer),
        ("number", Kind::Number),
        ("boolean", Kind::Boolean),
        ("null", Kind::Null),
    ];
    if let Some(types) = demands.get("type") {
        return kinds
            .into_iter()
            .find(|(name, _)| names_type(types, name))
            .map_or(Kind::Null, |(_, kind)| kind);
    }
    let speaks_of = |keywords: &[&str]| keywords.iter().any(|word| demands.contains_key(*word));
    if speaks_of(&[
        "properties",
        "required",
        "additionalProperties",
        "minProperties",
    ]) {
        Kind::Object
    } else if speaks_of(&[
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
    ]) {
        Kind::List
    } else if speaks_of(&[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
    ]) {
        Kind::Number
    } else {
        Kind::Text
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
