//! Saying the same with fewer keywords.

use serde_json::{Map, Value, json};

use super::description;
use crate::schema::Dialect;
use crate::schema::integer::{IntegerType, is_float_format};
use crate::schema::walk::children_mut;

type Object = Map<String, Value>;

/// Rewrites a schema, from the inside out.
pub(in crate::schema) fn simplify(schema: &mut Value, dialect: Dialect) {
    children_mut(schema, |child| simplify(child, dialect));
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Value::Object(object) = schema else {
        return;
    };
    drop_number_format(object, dialect);
    if let Some(any_of) = object.shift_remove("oneOf") {
        object.insert("anyOf".to_owned(), any_of);
    }
    name_constants(object);
    lift_only_branch(object);
    open_map(object);
    if dialect != Dialect::Gemini {
        even_tuple(object);
    }
    if dialect == Dialect::Gemini
        && let Some(constant) = object.shift_remove("const")
    {
        object.insert("enum".to_owned(), json!([constant]));
    }
}

/// schemars names the types of Rust's numbers, and their bounds; JSON Schema knows no such formats. A grammar does not
/// know Rust's types, so it gets the bounds.
fn drop_number_format(object: &mut Object, dialect: Dialect) {
    if let Some(integer) = IntegerType::of(object) {
        object.shift_remove("format");
        for keyword in ["minimum", "maximum"] {
            if dialect != Dialect::Grammar
                && object
                    .get(keyword)
                    .is_some_and(|bound| integer.implies(keyword, bound))
            {
                object.shift_remove(keyword);
            }
        }
    }
    let format = object.get("format").and_then(Value::as_str);
    if format.is_some_and(is_float_format) {
        object.shift_remove("format");
    }
}

/// A union of described constants is an enumeration, with what they mean in its description.
fn name_constants(object: &mut Object) {
    let Some(Value::Array(branches)) = object.get("anyOf") else {
        return;
    };
    let mut names = Vec::new();
    let mut meanings = Vec::new();
    for branch in branches {
        let is_string = branch.get("type").and_then(Value::as_str) == Some("string");
        let constants = match (branch.get("const"), branch.get("enum")) {
            (Some(constant), _) => std::slice::from_ref(constant),
            (None, Some(Value::Array(constants))) => constants,
            _ => return,
        };
        if !is_string || constants.iter().any(|constant| !constant.is_string()) {
            return;
        }
        names.extend(constants.iter().cloned());
        if let (Some(Value::String(meaning)), [Value::String(name)]) =
            (branch.get("description"), constants)
        {
            meanings.push(format!("{name}: {meaning}"));
        }
    }
    object.shift_remove("anyOf");
    object.insert("type".to_owned(), "string".into());
    object.insert("enum".to_owned(), names.into());
    if !meanings.is_empty() {
        description::add_note(object, &meanings.join("\n"));
    }
}

/// A union of one is no union.
pub(super) fn lift_only_branch(object: &mut Object) {
    let Some(Value::Array(branches)) = object.get("anyOf") else {
        return;
    };
    if let [Value::Object(branch)] = branches.as_slice() {
        let branch = branch.clone();
        object.shift_remove("anyOf");
        let outer = description::take(object);
        object.extend(branch);
        if let Some(outer) = outer {
            description::describe(object, &outer);
        }
    }
}

/// A map whose keys have a pattern is a map.
fn open_map(object: &mut Object) {
    if object.contains_key("properties") {
        return;
    }
    if let Some(Value::Object(patterns)) = object.shift_remove("patternProperties") {
        let mut values: Vec<Value> = patterns
            .into_iter()
            .map(|(_pattern, value)| value)
            .collect();
        let value = match values.pop() {
            Some(value) if values.is_empty() => value,
            Some(value) => {
                values.push(value);
                json!({ "anyOf": values })
            }
            None => json!({}),
        };
        object.insert("additionalProperties".to_owned(), value);
    }
}

/// A tuple is a list of its elements' types, if a dialect knows no tuples.
fn even_tuple(object: &mut Object) {
    let Some(Value::Array(elements)) = object.shift_remove("prefixItems") else {
        return;
    };
    let mut kinds: Vec<Value> = Vec::new();
    for element in elements {
        if !kinds.contains(&element) {
            kinds.push(element);
        }
    }
    let items = match kinds.pop() {
        Some(only) if kinds.is_empty() => only,
        Some(last) => {
            kinds.push(last);
            json!({ "anyOf": kinds })
        }
        None => json!({}),
    };
    object.insert("items".to_owned(), items);
}
