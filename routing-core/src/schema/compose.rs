//! Merges objects that are described in parts.
//!
//! schemars writes a flattened field or an internally tagged variant as an object beside the
//! reference, union or conjunction that says the rest of it. No part of such an object can be closed,
//! and providers do not take it. Where the parts are plain objects, they are merged.

use serde_json::{Map, Value, json};

use super::definition::{put_definitions, resolve, take_definitions};
use super::walk::children_mut;

type Object = Map<String, Value>;

/// How deep parts may be nested in parts. Types of finite size stay far below.
const DEEPEST: usize = 16;

/// Merges the parts of every object.
pub(super) fn compose(schema: &mut Value) {
    let definitions = take_definitions(schema);
    let mut composed = definitions.clone();
    compose_tree(schema, &definitions, 0);
    for definition in composed.values_mut() {
        compose_tree(definition, &definitions, 0);
    }
    put_definitions(schema, composed);
}

fn compose_tree(schema: &mut Value, definitions: &Object, depth: usize) {
    if depth < DEEPEST
        && let Some(whole) = whole(schema, definitions)
    {
        *schema = whole;
        return compose_tree(schema, definitions, depth + 1);
    }
    children_mut(schema, |child| compose_tree(child, definitions, 0));
}

/// The schema with its parts merged; `None` if it has none, or they cannot be.
fn whole(schema: &Value, definitions: &Object) -> Option<Value> {
    let object = schema.as_object()?;
    let has_properties = object.contains_key("properties");
    if !has_properties && !object.contains_key("allOf") {
        return None;
    }
    if let Some(Value::Array(parts)) = object.get("allOf")
        && let ([part], false) = (parts.as_slice(), has_properties)
    {
        return Some(beside(part, object, "allOf"));
    }
    let mut merged = object.clone();
    let mut is_changed = false;
    if object.contains_key("$ref") {
        let (_name, definition) = resolve(schema, definitions)?;
        merged.shift_remove("$ref");
        merge(&mut merged, definition)?;
        is_changed = true;
    }
    if let Some(Value::Array(parts)) = merged.shift_remove("allOf") {
        for part in &parts {
            merge(&mut merged, &part_itself(part, definitions))?;
        }
        is_changed = true;
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = merged.get(keyword) {
            return distribute(&merged, keyword, branches, definitions);
        }
    }
    is_changed.then_some(Value::Object(merged))
}

/// What a part says, if it may be a bare reference, or be made of parts itself.
fn part_itself(part: &Value, definitions: &Object) -> Value {
    let is_bare = part.as_object().is_some_and(|object| object.len() == 1);
    let mut itself = match resolve(part, definitions) {
        Some((_name, definition)) if is_bare => definition.clone(),
        _ => part.clone(),
    };
    for _level in 0..DEEPEST {
        match whole(&itself, definitions) {
            Some(whole) => itself = whole,
            None => break,
        }
    }
    itself
}

/// The one part, with the keywords beside it.
fn beside(part: &Value, object: &Object, keyword: &str) -> Value {
    let mut whole = part.as_object().cloned().unwrap_or_default();
    for (key, value) in object {
        if key != keyword {
            whole.insert(key.clone(), value.clone());
        }
    }
    Value::Object(whole)
}

/// Adds the properties of a part to an object. `None` if the part says more than that.
fn merge(object: &mut Object, part: &Value) -> Option<()> {
    for (keyword, value) in part.as_object()? {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let all = object.entry("properties").or_insert_with(|| json!({}));
                for (name, property) in properties {
                    all.as_object_mut()?
                        .entry(name)
                        .or_insert_with(|| property.clone());
                }
            }
            ("required", Value::Array(names)) => {
                let all = object.entry("required").or_insert_with(|| json!([]));
                let all = all.as_array_mut()?;
                for name in names {
                    if !all.contains(name) {
                        all.push(name.clone());
                    }
                }
            }
            ("type", kind) if kind != "object" => return None,
            ("oneOf" | "anyOf", _) if object.contains_key("oneOf") => return None,
            ("oneOf" | "anyOf", _) if object.contains_key("anyOf") => return None,
            ("type" | "description" | "oneOf" | "anyOf", value) => {
                object.entry(keyword).or_insert_with(|| value.clone());
            }
            ("title" | "additionalProperties" | "unevaluatedProperties", _) => {}
            _ => return None,
        }
    }
    Some(())
}

/// A union beside properties: each branch gets them.
fn distribute(
    object: &Object,
    keyword: &str,
    branches: &[Value],
    definitions: &Object,
) -> Option<Value> {
    let mut base = object.clone();
    base.shift_remove(keyword);
    base.shift_remove("unevaluatedProperties");
    let description = base.shift_remove("description");
    let mut whole = Vec::with_capacity(branches.len());
    for branch in branches {
        let branch = part_itself(branch, definitions);
        let mut merged = base.clone();
        // A flattened option adds nothing if it is unset.
        if branch.get("type").and_then(Value::as_str) != Some("null") {
            merge(&mut merged, &branch)?;
        }
        whole.push(Value::Object(merged));
    }
    let mut union = Object::new();
    if let Some(description) = description {
        union.insert("description".to_owned(), description);
    }
    union.insert(keyword.to_owned(), Value::Array(whole));
    Some(Value::Object(union))
}
