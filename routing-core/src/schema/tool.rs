//! The schemas of tools' arguments. They are written by others, in any draft, and one that a provider refuses makes it
//! refuse every call that offers it: what can be is rewritten, and what cannot be is left out.
//!
//! Every rewriting allows at least what the schema allows: arguments are checked against the schema itself. Tools are
//! not offered as strict, so the limits of structured output do not hold for them, but these do: OpenAI, "Function
//! calling": an object, without a union at its root; Anthropic, "Tool use": the same, draft 2020-12, names of properties
//! by a pattern; Google, "Function calling", as for a response. A server that makes a grammar fails at a keyword that it
//! does not know.

mod draft;
mod flat;

use serde_json::{Map, Value, json};

use super::definition::{put_definitions, take_definitions};
use super::limits::{LimitViolation, is_taken_name, tool_violation};
use super::prune::prune;
use super::render::{add_note, inline_described, keep_known, simplify};
use super::walk::{children_mut, roots_mut};
use super::{Dialect, definition};

pub use draft::updated;

/// Writes the schema of a tool's arguments in a provider's dialect.
///
/// # Errors
///
/// The limit that it breaks if it cannot be rewritten: the tool must not be offered then.
pub fn tool_schema(arguments: &Value, dialect: Dialect) -> Result<Value, LimitViolation> {
    let mut schema = updated(arguments);
    let definitions = take_definitions(&mut schema);
    definition::put_in_place(&mut schema, &definitions);
    if let Value::Object(root) = &mut schema {
        root.entry("type").or_insert_with(|| "object".into());
        root.entry("properties").or_insert_with(|| json!({}));
        flat::flatten(root, &definitions);
    }
    put_definitions(&mut schema, definitions.clone());
    roots_mut(&mut schema, |tree| match dialect {
        Dialect::JsonSchema => {}
        Dialect::OpenAiStrict => complete(tree),
        Dialect::Anthropic => rename(tree),
        Dialect::Gemini => inline_described(tree, &definitions),
        Dialect::Grammar => {
            flat_within(tree, &definitions);
            simplify(tree, dialect);
            keep_known(tree, dialect);
        }
    });
    prune(&mut schema);
    match tool_violation(&schema, dialect) {
        Some(violation) => Err(violation),
        None => Ok(schema),
    }
}

/// Merges what is beside properties at every level.
fn flat_within(schema: &mut Value, definitions: &Map<String, Value>) {
    if let Value::Object(object) = schema
        && object.contains_key("properties")
    {
        flat::flatten(object, definitions);
    }
    children_mut(schema, |child| flat_within(child, definitions));
}

/// OpenAI wants lists to say of what, and objects to have properties, if only none.
fn complete(schema: &mut Value) {
    children_mut(schema, complete);
    let Value::Object(object) = schema else {
        return;
    };
    match object.get("type").and_then(Value::as_str) {
        Some("array") => object.entry("items").or_insert_with(|| json!({})),
        Some("object") => object.entry("properties").or_insert_with(|| json!({})),
        Some(_) | None => return,
    };
}

/// A property whose name is not taken is told in words; a model can give it all the same.
fn rename(schema: &mut Value) {
    children_mut(schema, rename);
    let Value::Object(object) = schema else {
        return;
    };
    let Some(Value::Object(properties)) = object.get_mut("properties") else {
        return;
    };
    let (taken, told): (Map<_, _>, Map<_, _>) = std::mem::take(properties)
        .into_iter()
        .partition(|(name, _property)| is_taken_name(name));
    *properties = taken;
    if told.is_empty() {
        return;
    }
    let is_told = |name: &Value| name.as_str().is_some_and(|name| told.contains_key(name));
    let mut required = Vec::new();
    if let Some(Value::Array(names)) = object.get_mut("required") {
        required.extend(names.iter().filter(|name| is_told(name)).cloned());
        names.retain(|name| !is_told(name));
    }
    if object.get("additionalProperties") == Some(&Value::Bool(false)) {
        object.shift_remove("additionalProperties");
    }
    let mut note = format!("It has these properties too: {}", Value::Object(told));
    if !required.is_empty() {
        note.push_str(&format!("; required are {}", Value::Array(required)));
    }
    add_note(object, &note);
}
