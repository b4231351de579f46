//! Lengths for schemas that have none: a model that is forced to follow a schema character by character may repeat
//! itself within a text, a list or a number, and nothing else would end it.

use serde_json::{Map, Value};

use crate::schema::Dialect;
use crate::schema::walk::children_mut;

/// The largest number that is asked for by default: every integer type of 32 bits or more takes it.
const LARGEST: i64 = 999_999_999;

/// What a string is bounded by already.
const BOUNDED: [&str; 4] = ["enum", "const", "format", "maxLength"];

/// Gives a length to every text and list that has none, in a schema that is within so many lists.
pub(super) fn set(schema: &mut Value, dialect: Dialect, within: usize) {
    let (items, text) = dialect.longest(within);
    if items.is_none() && text.is_none() {
        return;
    }
    let is_list = schema.as_object().is_some_and(|object| is(object, "array"));
    let inside = within + usize::from(is_list);
    children_mut(schema, |child| set(child, dialect, inside));
    let Value::Object(object) = schema else {
        return;
    };
    if let Some(longest) = items
        && is_list
        && !object.contains_key("maxItems")
    {
        let least = object.get("minItems").and_then(Value::as_u64);
        object.insert(
            "maxItems".to_owned(),
            longest.max(least.unwrap_or(0)).into(),
        );
        // A small model leaves out what is only demanded in words.
        if text.is_some() && least.is_none() && demands_one(object) {
            object.insert("minItems".to_owned(), 1.into());
        }
    }
    if let Some(longest) = text
        && is(object, "string")
        && !BOUNDED.iter().any(|keyword| object.contains_key(*keyword))
    {
        let least = object.get("minLength").and_then(Value::as_u64).unwrap_or(1);
        object.insert("minLength".to_owned(), least.into());
        object.insert("maxLength".to_owned(), longest.max(least).into());
    }
    if text.is_some() && is(object, "integer") {
        bound_number(object);
    }
}

/// Puts a bound on each side of a number that has none.
fn bound_number(number: &mut Map<String, Value>) {
    let bound = |keyword: &str| number.get(keyword).and_then(Value::as_i64);
    let (least, most) = (bound("minimum"), bound("maximum"));
    if number.get("maximum").is_none() {
        let most = least.unwrap_or(0).max(LARGEST);
        number.insert("maximum".to_owned(), most.into());
    }
    if number.get("minimum").is_none() {
        let least = most.unwrap_or(0).min(-LARGEST);
        number.insert("minimum".to_owned(), least.into());
    }
}

/// Whether a list's description says that it has an entry.
fn demands_one(list: &Map<String, Value>) -> bool {
    let said = list.get("description").and_then(Value::as_str);
    said.is_some_and(|said| said.to_ascii_lowercase().contains("at least one"))
}

/// Whether a schema is of this type, perhaps among others.
fn is(object: &Map<String, Value>, kind: &str) -> bool {
    match object.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|it| it == kind),
        Some(_) | None => false,
    }
}
