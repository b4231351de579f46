//! A form made from a schema, and the filled-in values, as the schema wants them.

use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::body::FormFields;
use crate::visible::visible;

/// The prefix of the names of the form's fields.
pub(super) const PREFIX: &str = "edit.";

/// How a property is filled in.
enum Input {
    Line,
    Lines,
    Number,
    Truth,
    /// One of these: each with its value and its label.
    Choice(Vec<(String, String)>),
    /// Any of these.
    Choices(Vec<(String, String)>),
    Json,
}

/// The properties of an object schema, each with how it is filled in.
fn properties(schema: &Value) -> Vec<(String, Value, Input, bool)> {
    let object = resolved(schema, schema);
    let required: Vec<&str> = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = object.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let target = resolved(schema, property);
            let input = input_of(schema, target);
            let mut described = target.clone();
            for key in ["description", "title", "default"] {
                if let (Some(text), Value::Object(described)) = (property.get(key), &mut described)
                {
                    described.insert(key.to_owned(), text.clone());
                }
            }
            (name.clone(), described, input, required.contains(&&**name))
        })
        .collect()
}

/// The schema that a reference leads to; for a schema that allows null, its other alternative.
fn resolved<'schema>(root: &'schema Value, schema: &'schema Value) -> &'schema Value {
    if let Some(target) = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| root.pointer(reference.strip_prefix('#')?))
    {
        return resolved(root, target);
    }
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    let other = alternatives
        .into_iter()
        .flatten()
        .find(|one| one.get("type") != Some(&Value::from("null")));
    match other {
        Some(other) => resolved(root, other),
        None => schema,
    }
}

fn input_of(root: &Value, schema: &Value) -> Input {
    if let Some(choices) = choices_of(schema) {
        return Input::Choice(choices);
    }
    match type_of(schema) {
        Some("string") => Input::Line,
        Some("integer" | "number") => Input::Number,
        Some("boolean") => Input::Truth,
        Some("array") => {
            let items = schema.get("items");
            if let Some(choices) = items.and_then(choices_of) {
                return Input::Choices(choices);
            }
            match items.map(|items| resolved(root, items)).and_then(type_of) {
                Some("string") => Input::Lines,
                _ => Input::Json,
            }
        }
        _ => Input::Json,
    }
}

/// The choices, if all of them are listed: each with its value and its label.
fn choices_of(schema: &Value) -> Option<Vec<(String, String)>> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let names = schema.get("enumNames").and_then(Value::as_array);
        let named = values.iter().enumerate().filter_map(|(index, value)| {
            let value = value.as_str()?;
            let name = names.and_then(|names| names.get(index)?.as_str());
            Some((value.to_owned(), name.unwrap_or(value).to_owned()))
        });
        return Some(named.collect());
    }
    let titled = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    let choice = |one: &Value| {
        let value = one.get("const")?.as_str()?;
        let title = one.get("title").and_then(Value::as_str);
        Some((value.to_owned(), title.unwrap_or(value).to_owned()))
    };
    titled.as_array()?.iter().map(choice).collect()
}

/// What a field contains before it is filled in.
fn default_of(property: &Value) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    };
    match property.get("default") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(text).collect(),
        Some(value) => vec![text(value)],
    }
}

/// The type of a schema, without null.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// The fields of a schema, with what was filled in before.
pub(super) fn fields(schema: &Value, filled: Option<&FormFields>) -> Markup {
    html! {
        @for (name, property, input, required) in properties(schema) {
            @let id = format!("{PREFIX}{name}");
            @let held: Vec<String> = match filled {
                Some(filled) => filled.all(&id).map(str::to_owned).collect(),
                None => default_of(&property),
            };
            @let value = held.join("\n");
            @let title = property.get("title").and_then(Value::as_str);
            div.field {
                label for=(id) {
                    @match title.filter(|title| !title.eq_ignore_ascii_case(&name)) {
                        Some(title) => { (visible(title)) " (" (name) ")" },
                        None => (name),
                    }
                    @if required { " (needed)" }
                }
                @if let Some(text) = property.get("description").and_then(Value::as_str) {
                    p.hint id=(format!("{id}.hint")) { (visible(text)) }
                }
                @match input {
                    Input::Line => textarea id=(id) name=(id) rows="2" { (value) },
                    Input::Lines => {
                        textarea id=(id) name=(id) rows="3" { (value) }
                        p.hint { "One on each line." }
                    },
                    Input::Number => input id=(id) name=(id) type="number" step="any" value=(value);,
                    Input::Truth => select id=(id) name=(id) {
                        option value="" { "not said" }
                        option value="true" selected[value == "true"] { "yes" }
                        option value="false" selected[value == "false"] { "no" }
                    },
                    Input::Choice(choices) => select id=(id) name=(id) {
                        option value="" { "not said" }
                        @for (one, called) in choices { option value=(one) selected[one == value] { (visible(&called)) } }
                    },
                    Input::Choices(choices) => select id=(id) name=(id) multiple {
                        @for (one, called) in choices { option value=(one) selected[held.contains(&one)] { (visible(&called)) } }
                    },
                    Input::Json => {
                        textarea id=(id) name=(id) rows="4" spellcheck="false" { (value) }
                        p.hint { "As JSON." }
                    },
                }
            }
        }
    }
}

/// The filled-in values, as the schema wants them; `None` if there are none.
pub(super) fn filled_in(schema: &Value, form: &FormFields) -> Option<Value> {
    let mut object = Map::new();
    for (name, _, input, _) in properties(schema) {
        let id = format!("{PREFIX}{name}");
        let Some(text) = form.first(&id) else {
            continue;
        };
        let value = match input {
            Input::Choices(_) => form.all(&id).map(Value::from).collect(),
            Input::Line
            | Input::Lines
            | Input::Number
            | Input::Truth
            | Input::Choice(_)
            | Input::Json => value_of(&input, text),
        };
        object.insert(name, value);
    }
    (!object.is_empty()).then_some(Value::Object(object))
}

/// A value that cannot be parsed is kept as text: the check against the schema says what is wrong with it.
fn value_of(input: &Input, text: &str) -> Value {
    match input {
        Input::Line | Input::Choice(_) | Input::Choices(_) => text.into(),
        Input::Lines => text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(Value::from)
            .collect(),
        Input::Number | Input::Truth | Input::Json => {
            serde_json::from_str(text).unwrap_or_else(|_| text.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{fields, filled_in};
    use crate::body::FormFields;
    use serde_json::json;

    #[test]
    fn a_form_begins_with_its_defaults_and_names_its_choices() {
        let schema = json!({"type": "object", "properties": {
            "number": {"type": "integer", "title": "How many", "default": 7},
            "sure": {"type": "boolean", "default": true},
            "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}], "default": "g"},
            "parts": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "default": ["a", "c"]},
        }});
        let shown = fields(&schema, None).into_string();
        for part in [
            "How many (number)",
            "value=\"7\"",
            "<option value=\"true\" selected>",
            "<option value=\"g\" selected>Green</option>",
            "<option value=\"a\" selected>a</option><option value=\"b\">b</option>",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        let form = [
            ("edit.number", "9"),
            ("edit.parts", "b"),
            ("edit.parts", "c"),
        ];
        let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let expected = json!({"number": 9, "parts": ["b", "c"]});
        let filled = filled_in(&schema, &FormFields(form.to_vec()));
        assert_eq!(filled, Some(expected));
    }

    #[test]
    fn each_property_gets_the_value_of_its_type() {
        let schema = json!({
            "$ref": "#/$defs/Request",
            "$defs": {
                "Request": {"type": "object", "required": ["goal"], "properties": {
                    "goal": {"type": "string"},
                    "parts": {"type": "array", "items": {"type": "string"}},
                    "most": {"type": ["integer", "null"]},
                    "sure": {"type": "boolean"},
                    "phase": {"anyOf": [{"$ref": "#/$defs/Phase"}, {"type": "null"}]},
                    "more": {"type": "array", "items": {"type": "object"}},
                    "unsaid": {"type": "string"},
                }},
                "Phase": {"enum": ["DISCOVERY", "PLANNING"]},
            },
        });
        let form = [
            ("edit.goal", " ship <it> "),
            ("edit.parts", "one\r\n\r\n two \r\n"),
            ("edit.most", "3"),
            ("edit.sure", "false"),
            ("edit.phase", "PLANNING"),
            ("edit.more", r#"[{"a": 1}]"#),
            ("edit.unsaid", "  "),
        ];
        let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let form = FormFields(form.to_vec());
        let expected = json!({
            "goal": "ship <it>", "parts": ["one", "two"], "most": 3, "sure": false,
            "phase": "PLANNING", "more": [{"a": 1}],
        });
        assert_eq!(filled_in(&schema, &form), Some(expected));
        let shown = fields(&schema, Some(&form)).into_string();
        assert!(
            shown.contains("ship &lt;it&gt;") && !shown.contains("<it>"),
            "{shown}"
        );
        assert_eq!(filled_in(&schema, &FormFields(Vec::new())), None);
    }
}
