//! The schemas of tools' arguments, in every dialect: what providers refuse is rewritten or left out.

use serde_json::{Value, json};

use crate::schema::{Dialect, tool_schema, updated};

/// What providers were seen to refuse.
const CASES: &str = include_str!("refused-tool-schemas.json");

/// What a provider says of a tool's schema; nothing if it takes it.
fn refusal(schema: &Value, dialect: Dialect) -> Option<String> {
    let root = schema.as_object()?;
    if root.get("type") != Some(&json!("object")) || !root.contains_key("properties") {
        return Some("the root is no object".to_owned());
    }
    for keyword in ["anyOf", "oneOf", "allOf", "enum", "not", "$ref", "$schema"] {
        if root.contains_key(keyword) {
            return Some(format!("{keyword} at the root"));
        }
    }
    each(schema, dialect)
}

fn each(schema: &Value, dialect: Dialect) -> Option<String> {
    let object = schema.as_object()?;
    for keyword in ["exclusiveMinimum", "exclusiveMaximum"] {
        if object.get(keyword).is_some_and(Value::is_boolean) {
            return Some("draft 4".to_owned());
        }
    }
    let is_list = object.get("type") == Some(&json!("array"));
    if dialect == Dialect::OpenAiStrict && is_list && !object.contains_key("items") {
        return Some("array schema missing items".to_owned());
    }
    if object.get("items").is_some_and(Value::is_array) {
        return Some("a list of items".to_owned());
    }
    if dialect == Dialect::Grammar && object.contains_key("pattern") {
        return Some("a pattern".to_owned());
    }
    if let Some(Value::Object(properties)) = object.get("properties") {
        let letters = |name: &String| {
            name.chars()
                .all(|char| char.is_ascii_alphanumeric() || "_.-".contains(char))
        };
        if dialect == Dialect::Anthropic && !properties.keys().all(letters) {
            return Some("property keys should match pattern".to_owned());
        }
    }
    let within = ["properties", "$defs"]
        .into_iter()
        .filter_map(|keyword| object.get(keyword)?.as_object());
    let within = within.flat_map(|map| map.values());
    let lists = ["anyOf", "oneOf", "allOf", "prefixItems"]
        .into_iter()
        .filter_map(|keyword| object.get(keyword)?.as_array());
    within
        .chain(lists.flatten())
        .chain(object.get("items"))
        .find_map(|schema| each(schema, dialect))
}

fn more_cases() -> Value {
    json!({
        "root_ref": {"$ref": "#/definitions/A", "definitions": {"A": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}},
        "all_of": {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"properties": {"b": {"type": "integer"}}}]},
        "not_both": {"type": "object", "properties": {"a": {}, "b": {}}, "not": {"required": ["a", "b"]}},
        "pointer": {"type": "object", "properties": {"a": {"type": "object", "properties": {"x": {"type": "string"}}},
            "b": {"$ref": "#/properties/a"}}},
        "recursive": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}},
        "draft_07": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"pair": {"type": "array", "items": [{"type": "string"}, {"type": "number"}], "additionalItems": false}}},
        "draft_03": {"type": "object", "properties": {"a": {"type": "any", "required": true}}},
        "bare_list": {"type": "object", "properties": {"a": {"type": "array"}}},
        "pattern": {"type": "object", "properties": {"a": {"type": "string", "pattern": "[a-z]+"}}},
        "odd_required": {"type": "object", "properties": {"$top": {"type": "integer"}}, "required": ["$top"], "additionalProperties": false},
        "union_of_unions": {"anyOf": [{"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}},
            {"type": "object", "properties": {"a": {"type": "integer"}}}]}, {"type": "object", "properties": {"a": {"type": "null"}}}]},
        "kinds": {"type": ["object", "null"], "properties": {}},
    })
}

#[test]
fn what_a_provider_refuses_is_rewritten_in_every_dialect_and_says_what_it_said() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let all = cases.as_object().unwrap().iter();
    let more = more_cases();
    for (name, schema) in all.chain(more.as_object().unwrap()) {
        assert_eq!(updated(&updated(schema)), updated(schema), "{name}");
        for dialect in Dialect::ALL {
            let written = tool_schema(schema, dialect).unwrap();
            assert_eq!(
                refusal(&written, dialect),
                None,
                "{name} {dialect}: {written}"
            );
            // Each name that the schema has is still told to the model.
            for word in ["a", "b", "n", "$filter", "with space", "$top", "children"] {
                let quoted = format!("\"{word}\"");
                if schema.to_string().contains(&quoted) {
                    let said = written.to_string().replace("\\\"", "\"");
                    assert!(said.contains(&quoted), "{name} {dialect}: {word} in {said}");
                }
            }
        }
    }
}

#[test]
fn arguments_that_fit_are_allowed_by_what_is_written() {
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let written = |name: &str| tool_schema(&cases[name], Dialect::Anthropic).unwrap();
    assert_eq!(
        written("one_of_without_type"),
        json!({
            "description": "What is given must fit exactly one of: [{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]},{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"integer\"}},\"required\":[\"b\"]}]",
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}
        })
    );
    assert_eq!(
        written("no_type"),
        json!({"type": "object", "properties": {}})
    );
    assert_eq!(
        written("draft_04")["properties"]["n"],
        json!({"type": "number", "exclusiveMinimum": 0})
    );
    assert_eq!(
        written("odd_names")["description"],
        "It has these properties too: {\"$filter\":{\"type\":\"string\"},\"with space\":{\"type\":\"string\"}}"
    );
}

#[test]
fn what_every_provider_takes_is_left_as_it_is() {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string", "minLength": 1, "default": "."},
        "depth": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}, "required": ["path"], "additionalProperties": false});
    for dialect in [
        Dialect::JsonSchema,
        Dialect::OpenAiStrict,
        Dialect::Anthropic,
        Dialect::Gemini,
    ] {
        assert_eq!(tool_schema(&schema, dialect).unwrap(), schema, "{dialect}");
    }
}

#[test]
fn what_cannot_be_rewritten_is_left_out_with_the_reason() {
    let endless = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"],
        "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"]}}});
    for (schema, dialects, rule) in [
        (
            json!({"type": "string"}),
            &Dialect::ALL[..],
            "roots that are no object",
        ),
        (
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.org/a"}}}),
            &Dialect::ALL[..],
            "references that lead nowhere",
        ),
        (endless, &[Dialect::Gemini][..], "recursions"),
    ] {
        for dialect in dialects {
            let violation = tool_schema(&schema, *dialect).unwrap_err();
            assert_eq!(violation.rule, rule, "{dialect}");
        }
    }
}
