//! Keeping the keywords that a provider takes, and describing the others to the model.

use serde_json::{Map, Value, json};

use super::description;
use crate::schema::Dialect;
use crate::schema::walk::children_mut;

type Object = Map<String, Value>;

/// Constraints that are worth describing if they cannot be expressed.
const TOLD: [&str; 13] = [
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "propertyNames",
];

/// Drops what the provider does not take.
pub(in crate::schema) fn keep_known(schema: &mut Value, dialect: Dialect) {
    children_mut(schema, |child| keep_known(child, dialect));
    let Value::Object(object) = schema else {
        return;
    };
    let told: Vec<String> = TOLD
        .iter()
        .filter_map(|keyword| Some((keyword, object.get(*keyword)?)))
        .filter(|(keyword, value)| !takes(dialect, keyword, value))
        .map(|(keyword, value)| format!("{keyword} {value}"))
        .collect();
    object.retain(|keyword, value| takes(dialect, keyword, value) || is_essential(keyword));
    if !told.is_empty() {
        description::add_note(object, &format!("Constraints: {}", told.join(", ")));
    }
    if dialect == Dialect::Gemini {
        leave_union_alone(object);
        order_properties(object);
    }
}

/// What cannot be dropped without another meaning. It stays, and breaks a limit.
fn is_essential(keyword: &str) -> bool {
    matches!(keyword, "allOf" | "prefixItems")
}

/// Whether the provider takes a keyword with this value.
pub(in crate::schema) fn takes(dialect: Dialect, keyword: &str, value: &Value) -> bool {
    if !dialect.keywords().contains(&keyword) {
        return false;
    }
    match keyword {
        "format" => value
            .as_str()
            .is_some_and(|format| dialect.formats().contains(&format)),
        // Patterns are run by automata, which do not look around.
        "pattern" => value
            .as_str()
            .is_some_and(|pattern| !pattern.contains("(?")),
        "minItems" if dialect == Dialect::Anthropic => matches!(value.as_u64(), Some(0 | 1)),
        _ => true,
    }
}

/// Gemini wants nothing beside `anyOf`; what described the union describes its first branch.
fn leave_union_alone(object: &mut Object) {
    if object.len() == 1 || !object.contains_key("anyOf") {
        return;
    }
    let outer = description::take(object);
    let definitions = object.shift_remove("$defs");
    object.retain(|keyword, _value| keyword == "anyOf");
    if let (Some(outer), Some(Value::Array(branches))) = (outer, object.get_mut("anyOf"))
        && let Some(branch) = branches
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .find(|branch| !branch.contains_key("$ref"))
    {
        description::describe(branch, &outer);
    }
    if let Some(definitions) = definitions {
        object.insert("$defs".to_owned(), definitions);
    }
}

/// Gemini 2.0 and older sort properties by name unless they are told the order.
fn order_properties(object: &mut Object) {
    if let Some(Value::Object(properties)) = object.get("properties")
        && properties.len() > 1
    {
        let names: Vec<&String> = properties.keys().collect();
        let names = json!(names);
        object.insert("propertyOrdering".to_owned(), names);
    }
}
