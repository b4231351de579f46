//! What a schema says of its fields, in words: for servers that force a model to follow a schema and do not show it to
//! the model.

use serde_json::Value;

use crate::schema::AnswerSchema;

/// How deep nested lists and objects are described.
const DEEPEST: usize = 3;

/// The fields of the one request that an answer by this schema consists of, a line for each; `None` if it may be one of
/// several, or has no fields.
pub(super) fn fields(schema: &AnswerSchema) -> Option<String> {
    let root = schema.value();
    let requests = root.get("properties")?.as_object()?;
    let mut requests = requests.iter();
    let (Some((name, request)), None) = (requests.next(), requests.next()) else {
        return None;
    };
    let mut lines = String::new();
    tell(&mut lines, root, request, 0);
    (!lines.is_empty()).then(|| format!("The fields of `{name}`:{lines}"))
}

/// Adds a line for each field of an object.
fn tell(lines: &mut String, root: &Value, object: &Value, depth: usize) {
    let object = found(root, object);
    let fields = object.get("properties").and_then(Value::as_object);
    let required = object.get("required").and_then(Value::as_array);
    for (name, field) in fields.into_iter().flatten() {
        let field = found(root, field);
        let is_required = required.is_some_and(|names| names.iter().any(|it| it == name));
        let left_out = if is_required { "" } else { ", may be left out" };
        let (kind, inner) = kind(root, field);
        lines.push_str(&format!(
            "\n{}- `{name}` ({kind}{left_out})",
            "  ".repeat(depth)
        ));
        if let Some(meaning) = field.get("description").and_then(Value::as_str) {
            let meaning: Vec<&str> = meaning.split_whitespace().collect();
            lines.push_str(&format!(": {}", meaning.join(" ")));
        }
        if let Some(inner) = inner.filter(|_| depth + 1 < DEEPEST) {
            tell(lines, root, inner, depth + 1);
        }
    }
}

/// What a field contains, and the object whose fields are described below it.
fn kind<'s>(root: &'s Value, field: &'s Value) -> (String, Option<&'s Value>) {
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        return (format!("one of {}", values.join(", ")), None);
    }
    if let Some(items) = field.get("items") {
        let items = found(root, items);
        let (kind, inner) = kind(root, items);
        return (format!("list, each {kind}"), inner);
    }
    let name = match field.get("type").and_then(Value::as_str) {
        Some("string") => "text",
        Some("integer") => "whole number",
        Some("number") => "number",
        Some("boolean") => "true or false",
        Some("object") => return ("object".to_owned(), Some(field)),
        _ => "value",
    };
    (name.to_owned(), None)
}

/// The schema itself, or the definition that it refers to.
fn found<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| root.pointer(reference.strip_prefix('#')?))
        .unwrap_or(schema)
}
