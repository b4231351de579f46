//! The schemas of the description: as lists of fields, and as they are.

use maud::{Markup, html};
use serde_json::Value;

use super::{members, prose, text};

/// The prefix of the name of a schema in a reference to it.
const REFERENCE: &str = "#/components/schemas/";

/// The keywords that say more than a type, with the words for them.
const LIMITS: [(&str, &str); 9] = [
    ("format", "format"),
    ("pattern", "pattern"),
    ("minimum", "at least"),
    ("maximum", "at most"),
    ("minLength", "characters at least"),
    ("maxLength", "characters at most"),
    ("minItems", "entries at least"),
    ("maxItems", "entries at most"),
    ("default", "without it"),
];

/// All schemas.
pub(super) fn part(api: &Value) -> Markup {
    html! {
        h2 id="schemas" { "Schemas" }
        @for (name, schema) in members(&api["components"], "schemas") {
            article data-testid="schema" {
                h3 id=(format!("schema-{name}")) { a href=(format!("#schema-{name}")) { (name) } }
                @let meaning = text(schema, "description");
                @if !meaning.is_empty() { p { (prose(meaning)) } }
                (form(schema))
                details {
                    summary { "As JSON" span.unseen { ": " (name) } }
                    pre { (serde_json::to_string_pretty(schema).unwrap_or_default()) }
                }
            }
        }
    }
}

/// What a schema accepts: its fields, or its values.
fn form(schema: &Value) -> Markup {
    let parts = schema.get("allOf").and_then(Value::as_array);
    html! {
        @if let Some(parts) = parts {
            @for part in parts { (form(part)) }
        } @else if schema.get("properties").is_some() {
            dl { @for (name, field) in members(schema, "properties") { (field_part(name, field, needs(schema, name))) } }
        } @else {
            p { (kind(schema)) }
        }
    }
}

fn needs(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|needed| needed == name))
}

fn field_part(name: &str, field: &Value, needed: bool) -> Markup {
    let meaning = text(field, "description");
    html! {
        dt { code { (name) } }
        dd {
            span.hint { @if needed { "required: " } (kind(field)) }
            @if !meaning.is_empty() { br; (prose(meaning)) }
        }
    }
}

/// What a value is, in a few words.
pub(super) fn kind(schema: &Value) -> Markup {
    html! { (plain_kind(schema)) (limits(schema)) }
}

fn plain_kind(schema: &Value) -> Markup {
    let several = |name: &str| schema.get(name).and_then(Value::as_array);
    if let Some(name) = text(schema, "$ref").strip_prefix(REFERENCE) {
        return html! { a href=(format!("#schema-{name}")) { (name) } };
    }
    if let Some(values) = several("enum") {
        return html! { "one of " @for (place, value) in values.iter().enumerate() { @if place > 0 { ", " } code { (value) } } };
    }
    if let Some(value) = schema.get("const") {
        return html! { code { (value) } };
    }
    for (name, between) in [("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")] {
        if let Some(parts) = several(name) {
            return html! { @for (place, part) in parts.iter().enumerate() { @if place > 0 { (between) } (kind(part)) } };
        }
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        Some(one) => one.as_str().into_iter().collect(),
        None => vec!["anything"],
    };
    html! { @for (place, name) in types.iter().enumerate() {
        @if place > 0 { " or " }
        @match *name {
            "array" => { "list of " @match schema.get("items") { Some(items) => (kind(items)), None => "anything" } },
            "object" => { "object" @if let Some(of) = schema.get("additionalProperties").filter(|of| of.is_object()) { " of " (kind(of)) } },
            name => (name),
        }
    } }
}

fn limits(schema: &Value) -> Markup {
    html! {
        @for (keyword, words) in LIMITS {
            @if let Some(value) = schema.get(keyword) { ", " (words) " " code { @match value.as_str() { Some(text) => (text), None => (value) } } }
        }
    }
}
