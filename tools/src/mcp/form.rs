//! The form of a server's question, field by field: what a person is shown, and what the words mean that are typed.

use serde_json::{Map, Value, json};

use crate::arguments::check_arguments;

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// Its name in the answer.
    pub name: String,
    /// What it is called before people, where that is not its name.
    pub title: Option<String>,
    /// What the server says of it.
    pub description: Option<String>,
    /// How it is filled in.
    pub kind: FieldKind,
    /// Whether there is no answer without it.
    pub is_required: bool,
    /// What it is where nothing is said.
    pub default: Option<Value>,
    schema: Value,
}

/// How a field is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// With a text.
    Text,
    /// With a whole number.
    Integer,
    /// With a number.
    Number,
    /// With a yes or a no.
    Truth,
    /// With one of these.
    Choice(Vec<FieldChoice>),
    /// With any of these.
    Choices(Vec<FieldChoice>),
    /// With JSON.
    Json,
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChoice {
    /// Its value in the answer.
    pub value: String,
    /// What it is called before people, where that is not its value.
    pub title: Option<String>,
}

impl FormField {
    /// The fields of a form, in the order in which its schema has them.
    pub fn all(schema: &Value) -> Vec<Self> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            required.is_some_and(|names| names.iter().any(|it| it.as_str() == Some(name)))
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten();
        let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
        fields
            .map(|(name, property)| Self {
                name: name.clone(),
                title: text(property, "title").filter(|title| title != name),
                description: text(property, "description"),
                kind: FieldKind::of(property),
                is_required: is_required(name),
                default: property.get("default").cloned(),
                schema: property.clone(),
            })
            .collect()
    }

    /// What it is called before people.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// What is to be written, in words.
    pub fn wanted(&self) -> String {
        let mut parts = vec![match &self.kind {
            FieldKind::Text => text_wanted(&self.schema),
            FieldKind::Integer => format!("a whole number{}", range(&self.schema)),
            FieldKind::Number => format!("a number{}", range(&self.schema)),
            FieldKind::Truth => "yes or no".to_owned(),
            FieldKind::Choice(choices) => format!("one of {}", listed(choices)),
            FieldKind::Choices(choices) => {
                format!("any of {}, with commas between", listed(choices))
            }
            FieldKind::Json => "JSON".to_owned(),
        }];
        if !self.is_required {
            parts.push("may be left out".to_owned());
        }
        if let Some(default) = &self.default {
            parts.push(format!("by default {}", self.shown(default)));
        }
        parts.join("; ")
    }

    /// A value of it, as people read it.
    pub fn shown(&self, value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.shown(item)).collect();
                items.join(", ")
            }
            Value::Null | Value::Number(_) | Value::Object(_) => value.to_string(),
        }
    }

    /// What a typed line fills in; `None` where the field is left out.
    ///
    /// # Errors
    ///
    /// In words, why it cannot be that.
    pub fn read(&self, line: &str) -> Result<Option<Value>, String> {
        let line = line.trim();
        if line.is_empty() {
            return match &self.default {
                Some(default) => Ok(Some(default.clone())),
                None if self.is_required => Err("It is needed.".to_owned()),
                None => Ok(None),
            };
        }
        let value = self.value(line).ok_or_else(|| self.misfit())?;
        let one = Map::from_iter([(self.name.clone(), self.schema.clone())]);
        let schema = json!({"type": "object", "properties": one});
        let object = Map::from_iter([(self.name.clone(), value.clone())]);
        match check_arguments(&schema, &Value::Object(object)) {
            Ok(()) => Ok(Some(value)),
            Err(_why) => Err(self.misfit()),
        }
    }

    fn misfit(&self) -> String {
        format!("That does not fit: {}.", self.wanted())
    }

    fn value(&self, line: &str) -> Option<Value> {
        match &self.kind {
            FieldKind::Text => Some(line.into()),
            FieldKind::Integer => line.parse::<i64>().ok().map(Value::from),
            FieldKind::Number => serde_json::from_str(line).ok().filter(Value::is_number),
            FieldKind::Truth => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" => Some(true.into()),
                "n" | "no" | "false" => Some(false.into()),
                _ => None,
            },
            FieldKind::Choice(choices) => chosen(choices, line),
            FieldKind::Choices(choices) => line
                .split(',')
                .map(|part| chosen(choices, part.trim()))
                .collect::<Option<Vec<Value>>>()
                .map(Value::from),
            FieldKind::Json => serde_json::from_str(line).ok(),
        }
    }
}

impl FieldKind {
    fn of(schema: &Value) -> Self {
        if let Some(choices) = choices_of(schema) {
            return Self::Choice(choices);
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Self::Text,
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("boolean") => Self::Truth,
            Some("array") => match schema.get("items").and_then(choices_of) {
                Some(choices) => Self::Choices(choices),
                None => Self::Json,
            },
            Some(_) | None => Self::Json,
        }
    }
}

/// What can be chosen, in any of the ways in which the protocol writes it.
fn choices_of(schema: &Value) -> Option<Vec<FieldChoice>> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let names = schema.get("enumNames").and_then(Value::as_array);
        let choice = |(index, value): (usize, &Value)| {
            let name = names.and_then(|names| names.get(index)?.as_str());
            let value = value.as_str()?.to_owned();
            let title = name.map(str::to_owned);
            Some(FieldChoice { value, title })
        };
        return values.iter().enumerate().map(choice).collect();
    }
    let titled = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    let choice = |one: &Value| {
        let value = one.get("const")?.as_str()?.to_owned();
        let title = one.get("title").and_then(Value::as_str);
        let title = title.map(str::to_owned);
        Some(FieldChoice { value, title })
    };
    titled.as_array()?.iter().map(choice).collect()
}

/// The choice that is meant: by its number, its value, or what it is called.
fn chosen(choices: &[FieldChoice], said: &str) -> Option<Value> {
    let named = choices.iter().find(|choice| choice.value == said);
    let titled = || {
        let said = said.to_lowercase();
        choices.iter().find(|choice| {
            let titles = choice.title.iter().chain([&choice.value]);
            let mut lower = titles.map(|title| title.to_lowercase());
            lower.any(|title| title == said)
        })
    };
    let numbered = || choices.get(said.parse::<usize>().ok()?.checked_sub(1)?);
    let choice = named.or_else(titled).or_else(numbered)?;
    Some(choice.value.as_str().into())
}

fn listed(choices: &[FieldChoice]) -> String {
    let listed = choices.iter().enumerate().map(|(index, choice)| {
        let name = match &choice.title {
            Some(title) => format!("{title} [{}]", choice.value),
            None => choice.value.clone(),
        };
        format!("{} {name}", index + 1)
    });
    listed.collect::<Vec<_>>().join(", ")
}

fn text_wanted(schema: &Value) -> String {
    let mut wanted = match schema.get("format").and_then(Value::as_str) {
        Some("email") => "an email address".to_owned(),
        Some("uri") => "a web address".to_owned(),
        Some("date") => "a date, as 2026-11-24".to_owned(),
        Some("date-time") => "a time, as 2026-11-24T18:30:00Z".to_owned(),
        Some(_) | None => "a text".to_owned(),
    };
    let number = |key: &str| schema.get(key).and_then(Value::as_u64);
    match (number("minLength"), number("maxLength")) {
        (Some(least), Some(most)) => wanted.push_str(&format!(" of {least} to {most} letters")),
        (Some(least), None) => wanted.push_str(&format!(" of {least} letters or more")),
        (None, Some(most)) => wanted.push_str(&format!(" of at most {most} letters")),
        (None, None) => {}
    }
    wanted
}

fn range(schema: &Value) -> String {
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of {least} or more"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::FormField;

    fn field(schema: Value, is_required: bool) -> FormField {
        let required: &[&str] = if is_required { &["it"] } else { &[] };
        let form = json!({"type": "object", "properties": {"it": schema}, "required": required});
        FormField::all(&form).remove(0)
    }

    #[test]
    fn what_is_typed_is_read_as_its_field_wants_it() {
        let number = json!({"type": "integer", "minimum": 1, "maximum": 9});
        let colour = json!({"type": "string", "oneOf": [
            {"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]});
        let legacy = json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]});
        let many = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}});
        for (schema, typed, read) in [
            (json!({"type": "string"}), " Ada ", json!("Ada")),
            (json!({"type": "string"}), "7", json!("7")),
            (number, "7", json!(7)),
            (json!({"type": "number"}), "1.5", json!(1.5)),
            (json!({"type": "boolean"}), "Yes", json!(true)),
            (colour.clone(), "green", json!("g")),
            (colour, "1", json!("r")),
            (legacy, "Red", json!("r")),
            (many, "a, c", json!(["a", "c"])),
        ] {
            let shown = schema.to_string();
            assert_eq!(field(schema, true).read(typed), Ok(Some(read)), "{shown}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_is_wanted() {
        let number = json!({"type": "integer", "minimum": 1, "maximum": 9});
        for wrong in ["seven", "10", "1.5"] {
            let problem = field(number.clone(), true).read(wrong).unwrap_err();
            assert_eq!(
                problem, "That does not fit: a whole number from 1 to 9.",
                "{wrong}"
            );
        }
        let mail = field(json!({"type": "string", "format": "email"}), true);
        assert!(mail.read("nowhere").is_err());
        assert!(mail.read("ada@example.org").is_ok());
    }

    #[test]
    fn nothing_is_the_default_or_nothing() {
        let with = json!({"type": "integer", "default": 7});
        assert_eq!(field(with.clone(), true).read(""), Ok(Some(json!(7))));
        assert!(field(with, false).wanted().ends_with("by default 7"));
        let without = json!({"type": "string"});
        assert_eq!(field(without.clone(), false).read(" "), Ok(None));
        assert!(field(without, true).read("").is_err());
    }
}
