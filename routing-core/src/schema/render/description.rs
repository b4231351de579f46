//! Descriptions, which are all that a model reads of what a dialect cannot say.

use serde_json::{Map, Value};

/// Puts a description before the one that a schema has.
pub(super) fn describe(object: &mut Map<String, Value>, outer: &str) {
    let inner = object.get("description").and_then(Value::as_str);
    let whole = match inner {
        Some(inner) if inner == outer || outer.is_empty() => inner.to_owned(),
        Some(inner) => format!("{outer}\n{inner}"),
        None => outer.to_owned(),
    };
    put(object, whole);
}

/// Adds a sentence to the description of a schema.
pub(in crate::schema) fn add_note(object: &mut Map<String, Value>, note: &str) {
    let whole = match object.get("description").and_then(Value::as_str) {
        Some(description) => format!("{description}\n{note}"),
        None => note.to_owned(),
    };
    put(object, whole);
}

/// Takes the description out of a schema.
pub(super) fn take(object: &mut Map<String, Value>) -> Option<String> {
    match object.shift_remove("description") {
        Some(Value::String(description)) => Some(description),
        _ => None,
    }
}

/// The description comes first, so that it is read before what it describes.
fn put(object: &mut Map<String, Value>, description: String) {
    object.shift_remove("description");
    object.shift_insert(0, "description".to_owned(), description.into());
}
