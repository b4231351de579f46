//! The schemas of requests: closed, bounded, and within the limits of every provider.

use interrupts::ValueSchema;
use interrupts::catalogue::RouteEntry;
use routing_core::schema::{Dialect, check_limits as limits_of};
use serde_json::{Map, Value};

use super::RegistrationError;

/// The keywords that are understood.
const KNOWN: [&str; 28] = [
    "$defs",
    "$ref",
    "$schema",
    "title",
    "description",
    "examples",
    "default",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "oneOf",
    "enum",
    "const",
    "format",
    "pattern",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
];

/// Each of these bounds the length of a text.
const BOUNDS_OF_TEXT: [&str; 4] = ["maxLength", "enum", "const", "format"];

/// How deep schemas may be nested.
const DEEPEST: usize = 32;

/// How many mistakes of one schema are reported.
const MOST_TOLD: usize = 20;

/// Checks that the schema of a request is a closed object, bounded all the way down.
pub(super) fn check(schema: &Value, at: &str) -> Result<(), Vec<RegistrationError>> {
    if let Err(error) = ValueSchema::compile(schema) {
        return Err(vec![RegistrationError::at(
            at.to_owned(),
            error.to_string(),
            "write it in JSON Schema 2020-12, with references to its own `$defs` alone",
        )]);
    }
    let mut walk = Walk { wrong: Vec::new() };
    if !is_of(schema, "object") {
        walk.found(at, "the request is no object", "say `\"type\": \"object\"`");
    }
    walk.schema(schema, at, 0);
    if let Some(Value::Object(definitions)) = schema.get("$defs") {
        for (name, definition) in definitions {
            walk.schema(definition, &format!("{at}/$defs/{}", token(name)), 1);
        }
    }
    match walk.wrong.is_empty() {
        true => Ok(()),
        false => Err(walk.wrong),
    }
}

/// Checks that every provider accepts the schema that a model is shown of a route.
pub(super) fn check_limits(
    route: &RouteEntry,
    record: &str,
    at: &str,
) -> Result<(), Vec<RegistrationError>> {
    let mut wrong = Vec::new();
    for dialect in Dialect::ALL {
        let shown = route.schema_in(record, dialect);
        for violation in limits_of(&shown).into_iter().take(MOST_TOLD) {
            wrong.push(RegistrationError::at(
                at.to_owned(),
                violation.to_string(),
                violation.remedy,
            ));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong),
    }
}

struct Walk {
    wrong: Vec<RegistrationError>,
}

impl Walk {
    fn found(&mut self, at: &str, reason: impl Into<String>, remedy: &str) {
        if self.wrong.len() < MOST_TOLD {
            let error = RegistrationError::at(at.to_owned(), reason, remedy);
            self.wrong.push(error);
        }
    }

    fn schema(&mut self, schema: &Value, at: &str, depth: usize) {
        let Value::Object(members) = schema else {
            return self.found(at, "this is no schema of its own", "write an object");
        };
        if depth > DEEPEST {
            return self.found(at, "it lies too deep", "flatten it");
        }
        for keyword in members.keys() {
            if !KNOWN.contains(&keyword.as_str()) {
                let reason = format!("the keyword `{keyword}` is not understood");
                self.found(
                    at,
                    reason,
                    "say it with the keywords that all providers take",
                );
            }
        }
        let says_nothing = ["type", "$ref", "anyOf", "oneOf", "enum", "const"];
        if !says_nothing.iter().any(|it| members.contains_key(*it)) {
            self.found(at, "anything fits here", "say its `type`");
        }
        self.bounds(members, schema, at);
        self.below(members, at, depth + 1);
    }

    fn bounds(&mut self, members: &Map<String, Value>, schema: &Value, at: &str) {
        let is_closed = members.get("additionalProperties") == Some(&Value::Bool(false));
        if (is_of(schema, "object") || members.contains_key("properties")) && !is_closed {
            let remedy = "add `\"additionalProperties\": false`, and name all that it may hold";
            self.found(at, "the object is open", remedy);
        }
        let is_bounded = BOUNDS_OF_TEXT.iter().any(|it| members.contains_key(*it));
        if is_of(schema, "string") && !is_bounded {
            self.found(at, "the text may be of any length", "add `maxLength`");
        }
        if is_of(schema, "array") {
            if !members.contains_key("maxItems") {
                self.found(at, "the list may be of any length", "add `maxItems`");
            }
            if !members.contains_key("items") {
                self.found(at, "the list may hold anything", "add `items`");
            }
        }
    }

    fn below(&mut self, members: &Map<String, Value>, at: &str, depth: usize) {
        if let Some(Value::Object(properties)) = members.get("properties") {
            for (name, property) in properties {
                let at = format!("{at}/properties/{}", token(name));
                self.schema(property, &at, depth);
            }
        }
        if let Some(items) = members.get("items") {
            self.schema(items, &format!("{at}/items"), depth);
        }
        for keyword in ["anyOf", "oneOf"] {
            let choices = members.get(keyword).and_then(Value::as_array);
            for (place, choice) in choices.into_iter().flatten().enumerate() {
                self.schema(choice, &format!("{at}/{keyword}/{place}"), depth);
            }
        }
    }
}

/// Whether values of a type fit a schema, as far as its `type` says.
fn is_of(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(several)) => several.iter().any(|it| it == name),
        _ => false,
    }
}

/// A name, escaped for a JSON pointer.
fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
