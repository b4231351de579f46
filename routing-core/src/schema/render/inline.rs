//! References that say more than where they lead.
//!
//! OpenAI and Gemini take nothing beside a `$ref`, and Anthropic heeds nothing there. A reference with
//! a description is replaced by what it leads to.

use serde_json::{Map, Value};

use super::description;
use crate::schema::definition::resolve;
use crate::schema::walk::children_mut;

/// Replaces each reference with something beside it.
pub(in crate::schema) fn inline_described(schema: &mut Value, definitions: &Map<String, Value>) {
    inline_within(schema, definitions, &mut Vec::new());
}

/// `open` are the definitions that are being written out here; a reference to one of them is a recursion, and loses
/// what is beside it.
fn inline_within(schema: &mut Value, definitions: &Map<String, Value>, open: &mut Vec<String>) {
    let resolved = resolve(schema, definitions)
        .map(|(name, definition)| (name, definition.as_object().cloned()));
    let (Value::Object(object), Some((name, definition))) = (&mut *schema, resolved) else {
        return children_mut(schema, |child| inline_within(child, definitions, open));
    };
    if object.len() == 1 {
        return;
    }
    match definition {
        Some(definition) if !open.contains(&name) => {
            object.shift_remove("$ref");
            let outer = description::take(object);
            for (keyword, value) in definition {
                object.entry(keyword).or_insert(value);
            }
            if let Some(outer) = outer {
                description::describe(object, &outer);
            }
            open.push(name);
            inline_within(schema, definitions, open);
            open.pop();
        }
        _ => object.retain(|keyword, _value| keyword == "$ref"),
    }
}
