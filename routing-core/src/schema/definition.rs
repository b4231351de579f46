//! The definitions of a schema, and the references to them.

use serde_json::{Map, Value};

const DEFINITIONS: &str = "$defs";
const PREFIX: &str = "#/$defs/";

/// The definition that a reference names; `None` if it leads elsewhere.
pub(super) fn definition_name(reference: &str) -> Option<String> {
    let encoded = reference.strip_prefix(PREFIX)?;
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let name = String::from_utf8(bytes).ok()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// The reference of a schema, if it is one.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

/// The definition that a schema refers to, if it refers to one that exists.
pub(crate) fn resolve<'a>(
    schema: &Value,
    definitions: &'a Map<String, Value>,
) -> Option<(String, &'a Value)> {
    let name = definition_name(reference(schema)?)?;
    let definition = definitions.get(&name)?;
    Some((name, definition))
}

/// Puts what a schema refers to in its place, for as long as it is a reference; what is beside a reference stays.
pub(super) fn put_in_place(schema: &mut Value, definitions: &Map<String, Value>) {
    // Definitions that lead to each other in a circle end with the last of them.
    for _definition in 0..=definitions.len() {
        let Some((_name, Value::Object(definition))) = resolve(schema, definitions) else {
            return;
        };
        let definition = definition.clone();
        let Value::Object(object) = &mut *schema else {
            return;
        };
        object.shift_remove("$ref");
        for (keyword, value) in definition {
            object.entry(keyword).or_insert(value);
        }
    }
}

/// The definitions of a schema.
pub(super) fn definitions(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get(DEFINITIONS)?.as_object()
}

/// Takes the definitions out of a schema; none if it has none.
pub(super) fn take_definitions(schema: &mut Value) -> Map<String, Value> {
    match schema
        .as_object_mut()
        .and_then(|object| object.shift_remove(DEFINITIONS))
    {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    }
}

/// Puts definitions at the end of a schema, if there are any.
pub(super) fn put_definitions(schema: &mut Value, definitions: Map<String, Value>) {
    if let (Value::Object(object), false) = (schema, definitions.is_empty()) {
        object.insert(DEFINITIONS.to_owned(), Value::Object(definitions));
    }
}
