//! What each schema within may say, and must.

use serde_json::{Map, Value};

use super::Report;
use super::name::{RULE, is_taken_name};
use crate::schema::Dialect;
use crate::schema::render::takes;

/// The root is an object, and no union.
pub(super) fn check_root(schema: &Value, report: &mut Report) {
    if !is_type(schema, "object") {
        report.forbid("roots that are no object", "#");
    }
    if schema.get("anyOf").is_some() {
        report.forbid("unions at the root", "#/anyOf");
    }
}

/// Checks one schema, not what is within.
pub(super) fn check(path: &str, schema: &Value, report: &mut Report) {
    let Value::Object(object) = schema else {
        return report.forbid("schemas that are no object", path);
    };
    for (keyword, value) in object {
        if !takes(report.dialect, keyword, value) {
            report.forbid("keywords that are not taken", &format!("{path}/{keyword}"));
        }
    }
    let is_alone = object.len() == 1;
    if object.contains_key("$ref") && !is_alone {
        report.forbid("keywords beside a reference", path);
    }
    if report.dialect == Dialect::Gemini {
        if object.contains_key("anyOf") && !is_alone {
            report.forbid("keywords beside `anyOf`", path);
        }
        return;
    }
    let says_something = ["type", "$ref", "anyOf", "enum", "const"]
        .iter()
        .any(|keyword| object.contains_key(*keyword));
    if !says_something {
        report.forbid("schemas without a type", path);
    }
    if is_type(schema, "object") || object.contains_key("properties") {
        check_object(path, object, report);
    }
}

fn check_object(path: &str, object: &Map<String, Value>, report: &mut Report) {
    if object.get("additionalProperties") != Some(&Value::Bool(false)) {
        report.forbid("objects that take any property", path);
    }
    check_names(path, object, report);
    if report.dialect != Dialect::OpenAiStrict {
        return;
    }
    let required = object.get("required").and_then(Value::as_array);
    let properties = object.get("properties").and_then(Value::as_object);
    for name in properties.into_iter().flat_map(Map::keys) {
        let is_required = required.is_some_and(|required| {
            required
                .iter()
                .any(|required| required.as_str() == Some(name))
        });
        if !is_required {
            let path = format!("{path}/properties/{name}");
            report.forbid("properties that are not required", &path);
        }
    }
}

fn check_names(path: &str, object: &Map<String, Value>, report: &mut Report) {
    let properties = object.get("properties").and_then(Value::as_object);
    for name in properties.into_iter().flat_map(Map::keys) {
        if report.dialect == Dialect::Anthropic && !is_taken_name(name) {
            report.forbid(RULE, &format!("{path}/properties/{name}"));
        }
    }
}

fn is_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(types)) => types.iter().any(|each| each == name),
        _ => false,
    }
}
