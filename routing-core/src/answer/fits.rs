//! Whether an answer fits its schema, for what serde reads from a buffer.
//!
//! An adapter does not reach into serde's buffers: of tagged and untagged enums and of what is flattened, unknown
//! fields are skipped there, even if their types deny them, and lists are taken for structs. So an answer of which
//! serde has buffered a part is compared with its schema once it has been read. Lengths, ranges, patterns and formats
//! are not checked here: a [`ConstraintCheck`](super::ConstraintCheck) does that.

use serde_json::{Map, Value};

use super::path::Path;
use super::{AnswerError, AnswerFault};
use crate::schema::resolve;

/// The fault of an answer that does not fit.
pub(super) fn misfit(schema: &Value, answer: &Value) -> Option<AnswerError> {
    let none = Map::new();
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let fitting = Fitting {
        definitions: definitions.unwrap_or(&none),
    };
    let misfit = fitting.misfit(schema, answer, "$", 0)?;
    Some(AnswerError::new(misfit.fault, misfit.path, misfit.reason))
}

struct Misfit {
    fault: AnswerFault,
    path: String,
    reason: String,
    /// How much it tells: of the branches of a union, the one that the answer comes closest to is meant.
    weight: (bool, usize),
}

struct Fitting<'a> {
    definitions: &'a Map<String, Value>,
}

impl Fitting<'_> {
    fn misfit(&self, schema: &Value, value: &Value, path: &str, depth: usize) -> Option<Misfit> {
        if let Some((_name, definition)) = resolve(schema, self.definitions) {
            return self.misfit(definition, value, path, depth);
        }
        let object = schema.as_object()?;
        let other = |reason: String| {
            Some(Misfit {
                fault: AnswerFault::WrongShape,
                path: path.to_owned(),
                reason,
                weight: (false, depth),
            })
        };
        if !is_of_type(object, value) {
            let wanted = &object["type"];
            return Some(Misfit {
                fault: if value.is_array() {
                    AnswerFault::ArrayForObject
                } else {
                    AnswerFault::WrongShape
                },
                path: path.to_owned(),
                reason: format!("a value of another type stands where {wanted} belongs"),
                // The branch for which serde took a list is the one that was meant.
                weight: (value.is_array(), depth),
            });
        }
        if object
            .get("const")
            .is_some_and(|constant| constant != value)
        {
            return other(format!("it must be {}", object["const"]));
        }
        if let Some(Value::Array(values)) = object.get("enum")
            && !values.contains(value)
        {
            return other(format!("it must be one of {}", object["enum"]));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = object.get(keyword)
                && let Some(misfit) = self.of_union(branches, value, path, depth)
            {
                return Some(misfit);
            }
        }
        let parts = object.get("allOf").and_then(Value::as_array);
        if let Some(misfit) = parts
            .into_iter()
            .flatten()
            .find_map(|part| self.misfit(part, value, path, depth))
        {
            return Some(misfit);
        }
        match value {
            Value::Object(properties) => self.of_object(object, properties, path, depth),
            Value::Array(elements) => self.of_list(object, elements, path, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    /// The misfit of the branch that was meant; `None` if one fits.
    fn of_union(
        &self,
        branches: &[Value],
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Option<Misfit> {
        let mut closest: Option<Misfit> = None;
        for branch in branches {
            let misfit = self.misfit(branch, value, path, depth)?;
            if closest
                .as_ref()
                .is_none_or(|closest| misfit.weight > closest.weight)
            {
                closest = Some(misfit);
            }
        }
        closest
    }

    fn of_object(
        &self,
        object: &Map<String, Value>,
        properties: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Option<Misfit> {
        let known = object.get("properties").and_then(Value::as_object);
        let mut worst: Option<Misfit> = None;
        let mut keep = |misfit: Misfit| {
            if worst
                .as_ref()
                .is_none_or(|worst| misfit.weight < worst.weight)
            {
                worst = Some(misfit);
            }
        };
        let required = object.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !properties.contains_key(name) {
                keep(Misfit {
                    fault: AnswerFault::WrongShape,
                    path: below(path, name),
                    reason: format!("missing field `{name}`"),
                    weight: (true, depth),
                });
            }
        }
        for (name, value) in properties {
            let path = || below(path, name);
            match known.and_then(|known| known.get(name)) {
                Some(schema) => self
                    .misfit(schema, value, &path(), depth + 1)
                    .map(&mut keep),
                None if object.get("additionalProperties") == Some(&Value::Bool(false))
                    && !object.contains_key("patternProperties") =>
                {
                    let known: Vec<&str> = known
                        .into_iter()
                        .flat_map(Map::keys)
                        .map(String::as_str)
                        .collect();
                    let known = known.join(", ");
                    keep(Misfit {
                        fault: AnswerFault::UnknownField,
                        path: path(),
                        reason: format!("unknown field; the fields here are: {known}"),
                        weight: (true, depth + 1),
                    });
                    None
                }
                None => object
                    .get("additionalProperties")
                    .and_then(|schema| self.misfit(schema, value, &path(), depth + 1))
                    .map(&mut keep),
            };
        }
        worst
    }

    fn of_list(
        &self,
        object: &Map<String, Value>,
        elements: &[Value],
        path: &str,
        depth: usize,
    ) -> Option<Misfit> {
        let first = object.get("prefixItems").and_then(Value::as_array);
        elements.iter().enumerate().find_map(|(index, element)| {
            let schema = first
                .and_then(|first| first.get(index))
                .or_else(|| object.get("items"))?;
            self.misfit(schema, element, &format!("{path}[{index}]"), depth + 1)
        })
    }
}

fn is_of_type(object: &Map<String, Value>, value: &Value) -> bool {
    let is = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
        }
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    match object.get("type") {
        Some(Value::String(kind)) => is(kind),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

fn below(path: &str, key: &str) -> String {
    let mut path = Path::from(path.to_owned());
    path.push_key(key);
    path.into_text()
}
