//! Each limit, kept at its figure and broken one past it.

use serde_json::{Map, Value, json};

use crate::schema::Dialect;
use crate::schema::limits::violations;

/// Expects the schema to break exactly these limits.
#[track_caller]
fn check(dialect: Dialect, schema: &Value, expected: &[&str]) {
    let found: Vec<String> = violations(schema, dialect)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, expected);
}

fn object(properties: Map<String, Value>) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn numbered(count: usize, property: &Value) -> Map<String, Value> {
    (0..count)
        .map(|number| (format!("p{number:05}"), property.clone()))
        .collect()
}

#[test]
fn openai_counts_properties() {
    let text = json!({ "type": "string" });
    check(Dialect::OpenAiStrict, &object(numbered(5_000, &text)), &[]);
    check(
        Dialect::OpenAiStrict,
        &object(numbered(5_001, &text)),
        &["openai: properties in all: 5001 at #, at most 5000"],
    );
}

#[test]
fn openai_counts_levels() {
    let nested = |levels: usize| {
        let mut schema = json!({ "type": "string" });
        for _level in 0..levels {
            schema = object([("inside".to_owned(), schema)].into_iter().collect());
        }
        schema
    };
    check(Dialect::OpenAiStrict, &nested(10), &[]);
    check(
        Dialect::OpenAiStrict,
        &nested(11),
        &["openai: levels of nesting: 11 at #, at most 10"],
    );
}

#[test]
fn openai_counts_levels_through_references() {
    let mut schema = object(
        [("a".to_owned(), json!({ "$ref": "#/$defs/Nine" }))]
            .into_iter()
            .collect(),
    );
    let mut nine = json!({ "type": "string" });
    for _level in 0..10 {
        nine = json!({ "type": "array", "items": nine });
    }
    schema["$defs"] = json!({ "Nine": nine });
    check(
        Dialect::OpenAiStrict,
        &schema,
        &["openai: levels of nesting: 11 at #, at most 10"],
    );
}

#[test]
fn openai_counts_characters_of_names_and_values() {
    // 8 characters for the property "constant", 8 for the definition "Constant".
    let with_constant = |length: usize| {
        let mut schema = object(
            [("constant".to_owned(), json!({ "$ref": "#/$defs/Constant" }))]
                .into_iter()
                .collect(),
        );
        schema["$defs"] = json!({ "Constant": { "type": "string", "const": "ä".repeat(length) } });
        schema
    };
    check(Dialect::OpenAiStrict, &with_constant(119_984), &[]);
    check(
        Dialect::OpenAiStrict,
        &with_constant(119_985),
        &["openai: characters of names and values: 120001 at #, at most 120000"],
    );
}

#[test]
fn openai_counts_enum_values() {
    let enums = |last: usize| {
        let values = |count: usize| {
            let values: Vec<String> = (0..count).map(|value| value.to_string()).collect();
            json!({ "type": "string", "enum": values })
        };
        let mut properties = numbered(4, &values(200));
        properties.insert("last".to_owned(), values(last));
        object(properties)
    };
    check(Dialect::OpenAiStrict, &enums(200), &[]);
    check(
        Dialect::OpenAiStrict,
        &enums(201),
        &["openai: enum values in all: 1001 at #, at most 1000"],
    );
}

#[test]
fn openai_counts_characters_of_a_large_enum() {
    let large = |count: usize, length: usize| {
        let values: Vec<String> = (0..count)
            .map(|value| format!("{value:0length$}"))
            .collect();
        let property = json!({ "type": "string", "enum": values });
        object([("large".to_owned(), property)].into_iter().collect())
    };
    check(Dialect::OpenAiStrict, &large(250, 100), &[]);
    check(Dialect::OpenAiStrict, &large(300, 50), &[]);
    check(
        Dialect::OpenAiStrict,
        &large(300, 51),
        &[
            "openai: characters of an enumeration of more than 250 values: 15300 at #/properties/large, at most 15000",
        ],
    );
}

#[test]
fn openai_wants_every_property_and_no_others() {
    let mut schema = object(numbered(1, &json!({ "type": "string" })));
    schema["required"] = json!([]);
    schema["additionalProperties"] = json!(true);
    check(
        Dialect::OpenAiStrict,
        &schema,
        &[
            "openai: objects that take any property: 1 at #, at most 0",
            "openai: properties that are not required: 1 at #/properties/p00000, at most 0",
        ],
    );
}

#[test]
fn anthropic_counts_optional_parameters() {
    let optional = |count: usize| {
        let mut schema = object(numbered(count, &json!({ "type": "string" })));
        schema["required"] = json!([]);
        schema
    };
    check(Dialect::Anthropic, &optional(24), &[]);
    check(
        Dialect::Anthropic,
        &optional(25),
        &["anthropic: optional parameters in all: 25 at #, at most 24"],
    );
}

#[test]
fn anthropic_counts_unions_at_each_use() {
    let unions = |count: usize| {
        let mut schema = object(numbered(count, &json!({ "$ref": "#/$defs/Either" })));
        schema["$defs"] = json!({ "Either": { "type": ["string", "null"] } });
        schema
    };
    check(Dialect::Anthropic, &unions(16), &[]);
    check(
        Dialect::Anthropic,
        &unions(17),
        &["anthropic: union parameters in all: 17 at #, at most 16"],
    );
}

#[test]
fn keywords_and_formats_that_are_not_taken_are_named() {
    let schema = |property: Value| object([("a".to_owned(), property)].into_iter().collect());
    let bounds = schema(json!({ "type": "integer", "minimum": 3, "not": {} }));
    check(
        Dialect::Anthropic,
        &bounds,
        &[
            "anthropic: keywords that are not taken: 1 at #/properties/a/minimum, at most 0",
            "anthropic: keywords that are not taken: 1 at #/properties/a/not, at most 0",
            "anthropic: schemas without a type: 1 at #/properties/a/not, at most 0",
        ],
    );
    let list = json!({ "type": "array", "items": { "type": "string" }, "minItems": 2 });
    check(
        Dialect::Anthropic,
        &schema(list),
        &["anthropic: keywords that are not taken: 1 at #/properties/a/minItems, at most 0"],
    );
    let format = schema(json!({ "type": "string", "format": "uuid" }));
    check(Dialect::OpenAiStrict, &format, &[]);
    check(
        Dialect::Gemini,
        &format,
        &["gemini: keywords that are not taken: 1 at #/properties/a/format, at most 0"],
    );
}

#[test]
fn references_stand_alone_and_lead_to_definitions() {
    let mut schema = object(numbered(
        1,
        &json!({ "$ref": "#/$defs/Gone", "description": "" }),
    ));
    schema["$defs"] = json!({ "Unused": { "type": "string" } });
    check(
        Dialect::Gemini,
        &schema,
        &[
            "gemini: references that lead nowhere: 1 at #/properties/p00000, at most 0",
            "gemini: definitions that nothing refers to: 1 at #/$defs/Unused, at most 0",
            "gemini: keywords beside a reference: 1 at #/properties/p00000, at most 0",
        ],
    );
    check(
        Dialect::JsonSchema,
        &schema,
        &[
            "json-schema: references that lead nowhere: 1 at #/properties/p00000, at most 0",
            "json-schema: definitions that nothing refers to: 1 at #/$defs/Unused, at most 0",
        ],
    );
}

#[test]
fn a_union_stands_alone_in_gemini_and_never_at_the_root() {
    let text = json!({ "type": "string" });
    let schema = json!({ "type": "object", "anyOf": [text, { "type": "number" }] });
    check(
        Dialect::Gemini,
        &schema,
        &[
            "gemini: unions at the root: 1 at #/anyOf, at most 0",
            "gemini: keywords beside `anyOf`: 1 at #, at most 0",
        ],
    );
}
