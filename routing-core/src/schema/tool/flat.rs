//! An object in place of unions and conjunctions of objects.

use serde_json::{Map, Value, json};

use crate::schema::definition::put_in_place;
use crate::schema::render::add_note;

type Object = Map<String, Value>;

/// The most characters of a union that are told to a model in words.
const LONGEST_NOTE: usize = 2_000;

/// How deep parts may be nested in parts.
const DEEPEST: usize = 16;

/// What is merged into the object, and how it is told: of which parts how many must fit.
const PARTS: [(&str, &str); 3] = [
    ("allOf", "all"),
    ("anyOf", "at least one"),
    ("oneOf", "exactly one"),
];

/// What no provider takes beside properties.
const CONDITIONS: [&str; 2] = ["not", "enum"];

/// Merges the parts of an object into it. What that loses is told in its description.
pub(super) fn flatten(object: &mut Object, definitions: &Object) {
    flatten_within(object, definitions, 0);
    if let Some(Value::Array(kinds)) = object.get("type")
        && kinds.iter().any(|kind| kind == "object")
    {
        object.insert("type".to_owned(), "object".into());
    }
}

fn flatten_within(object: &mut Object, definitions: &Object, depth: usize) {
    for (keyword, how_many) in PARTS {
        let Some(Value::Array(parts)) = object.shift_remove(keyword) else {
            continue;
        };
        let told = parts.iter().any(|part| !is_plain(part)) || keyword != "allOf";
        let parts: Vec<Object> = parts
            .iter()
            .filter_map(|part| part_itself(part, definitions, depth))
            .collect();
        merge(object, &parts, keyword == "allOf");
        if told {
            let parts = Value::from(parts.into_iter().map(Value::Object).collect::<Vec<_>>());
            tell(
                object,
                &format!("What is given must fit {how_many} of"),
                &parts,
            );
        }
    }
    for keyword in CONDITIONS {
        if let Some(condition) = object.shift_remove(keyword) {
            tell(
                object,
                &format!("What is given is subject to `{keyword}`"),
                &condition,
            );
        }
    }
}

/// Whether merging a part loses nothing of it.
fn is_plain(part: &Value) -> bool {
    let known = ["type", "properties", "required", "description", "title"];
    part.as_object()
        .is_some_and(|part| part.keys().all(|keyword| known.contains(&keyword.as_str())))
}

/// A part, if it can be one of an object.
fn part_itself(part: &Value, definitions: &Object, depth: usize) -> Option<Object> {
    let mut part = part.clone();
    put_in_place(&mut part, definitions);
    let Value::Object(mut part) = part else {
        return None;
    };
    if depth < DEEPEST {
        flatten_within(&mut part, definitions, depth + 1);
    }
    Some(part)
}

/// Adds the properties of all parts; those are required that each of them requires, or any where all must fit.
fn merge(object: &mut Object, parts: &[Object], all_fit: bool) {
    let properties = parts
        .iter()
        .filter_map(|part| part.get("properties")?.as_object());
    for (name, property) in properties.flatten() {
        let all = object.entry("properties").or_insert_with(|| json!({}));
        let Value::Object(all) = all else {
            return;
        };
        match all.get_mut(name) {
            None => {
                all.insert(name.clone(), property.clone());
            }
            Some(known) if known == property || all_fit => {}
            Some(known) => *known = either(known.take(), property.clone()),
        }
    }
    let required = |part: &Object, name: &Value| {
        let names = part.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.contains(name))
    };
    let names = parts
        .iter()
        .filter_map(|part| part.get("required")?.as_array());
    for name in names.flatten() {
        let all = object.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(all) = all
            && !all.contains(name)
            && (all_fit || parts.iter().all(|part| required(part, name)))
        {
            all.push(name.clone());
        }
    }
    if object.get("required").is_some_and(|all| *all == json!([])) {
        object.shift_remove("required");
    }
}

/// A schema that allows what one of two allows.
fn either(one: Value, other: Value) -> Value {
    let choices = one.as_object().filter(|object| object.len() == 1);
    let choices = choices.and_then(|object| object.get("anyOf")?.as_array().cloned());
    let mut choices = choices.unwrap_or_else(|| vec![one]);
    if !choices.contains(&other) {
        choices.push(other);
    }
    json!({ "anyOf": choices })
}

fn tell(object: &mut Object, words: &str, what: &Value) {
    let what = what.to_string();
    if what.chars().count() <= LONGEST_NOTE {
        add_note(object, &format!("{words}: {what}"));
    } else {
        add_note(
            object,
            "What is given must fit more than can be said here; a refusal says what.",
        );
    }
}
