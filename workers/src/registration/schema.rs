//! The schemas of requests: closed, bounded, and within the limits of every provider.

use interrupt_router::schema::{Dialect, check_limits as limits_of};
use interrupts::ValueSchema;
use interrupts::catalogue::RouteEntry;
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
const BOUNDS_OF_TEXT: [&str; 3] = ["maxLength", "enum", "const"];

/// The formats that bound the length of a text. Of other formats, and of unknown ones, a text may be as long as it likes.
const BOUNDED_FORMATS: [&str; 8] = [
    "date-time",
    "date",
    "time",
    "uuid",
    "ipv4",
    "ipv6",
    "hostname",
    "email",
];

/// What to write in place of keywords that are often met.
const IN_PLACE_OF: [(&str, &str); 5] = [
    (
        "definitions",
        "move its entries to `$defs`, and refer to each as `#/$defs/NAME`",
    ),
    (
        "propertyNames",
        "leave it out, and name each property in `properties`: nothing else is taken",
    ),
    (
        "patternProperties",
        "name each property in `properties`, or take a list of objects with a name and a value each",
    ),
    (
        "allOf",
        "write the properties of all its parts into one object",
    ),
    ("nullable", "write `\"type\": [\"string\", \"null\"]`"),
];

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
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let remedy = format!("write what `{target}` holds here, in place of the reference");
        walk.found(
            at,
            "the request is a reference and no object of its own",
            &remedy,
        );
    } else if !is_of(schema, "object") {
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
                let known = IN_PLACE_OF.iter().find(|(other, _)| other == keyword);
                let remedy = known.map_or(
                    "leave it out, or say it with the keywords that all providers take",
                    |(_, remedy)| *remedy,
                );
                self.found(at, reason, remedy);
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
        let format = members.get("format").and_then(Value::as_str);
        let is_bounded = BOUNDS_OF_TEXT.iter().any(|it| members.contains_key(*it))
            || format.is_some_and(|format| BOUNDED_FORMATS.contains(&format));
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

#[cfg(test)]
mod tests {
    use interrupts::ValueSchema;
    use serde_json::{Value, json};

    use super::{BOUNDED_FORMATS, check};

    /// The mistakes of a request whose one property is this.
    fn mistakes(property: &Value) -> Vec<String> {
        told(&json!({"type": "object", "additionalProperties": false,
            "properties": {"it": property}}))
    }

    fn told(schema: &Value) -> Vec<String> {
        let wrong = check(schema, "").err().unwrap_or_default();
        wrong.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_a_format_that_bounds_a_text_counts_as_a_bound() {
        let long = "1".repeat(100_000);
        for format in BOUNDED_FORMATS {
            let schema = json!({"type": "string", "format": format});
            assert_eq!(mistakes(&schema), [""; 0], "{format}");
            let ready = ValueSchema::compile(&schema).unwrap();
            let texts = ["{}", "1970-01-01{}", "a.{}", "a@{}.com", "{}@a.com"];
            for text in texts.map(|text| text.replace("{}", &long)) {
                assert!(ready.check(&json!(text)).is_err(), "{format}");
            }
        }
        for format in ["uri", "regex", "duration", "no-such-format"] {
            let open = json!({"type": "string", "format": format});
            assert!(mistakes(&open)[0].contains("any length"), "{format}");
            let bounded = json!({"type": "string", "format": format, "maxLength": 40});
            assert_eq!(mistakes(&bounded), [""; 0], "{format}");
        }
    }

    #[test]
    fn the_true_reason_comes_first_with_a_remedy_that_can_be_followed() {
        let closed = json!({"type": "object", "additionalProperties": false, "properties": {}});
        let reference = json!({"$ref": "#/$defs/Order", "$defs": {"Order": closed}});
        let first = &told(&reference)[0];
        assert!(first.contains("is a reference"), "{first}");
        assert!(first.contains("what `#/$defs/Order` holds here"), "{first}");
        for (keyword, value, remedy) in [
            ("definitions", json!({"Order": closed}), "`#/$defs/NAME`"),
            (
                "propertyNames",
                json!({"maxLength": 3}),
                "name each property",
            ),
            ("allOf", json!([closed]), "into one object"),
        ] {
            let mut schema = closed.clone();
            schema[keyword] = value;
            let told = told(&schema);
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(
                told[0].contains(keyword) && told[0].contains(remedy),
                "{told:?}"
            );
        }
    }
}
