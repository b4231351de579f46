//! Values that a schema allows.

use std::cell::Cell;

use serde_json::{Map, Number, Value};

use crate::schema::definition::resolve;

/// How many values a full sample is made of before its rest is left out: types that refer to many others
/// have no end otherwise.
const MOST_VALUES: usize = 4_000;

/// How many of the properties that may be left out are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    /// None.
    Least,
    /// All.
    Most,
}

/// Makes values of schemas; the same ones each time.
pub(super) struct Samples<'a> {
    definitions: &'a Map<String, Value>,
    left: Cell<usize>,
}

impl<'a> Samples<'a> {
    pub(super) fn new(definitions: &'a Map<String, Value>) -> Self {
        Self {
            definitions,
            left: Cell::new(MOST_VALUES),
        }
    }

    /// The smallest value; `None` if there is none, or no finite one.
    pub(super) fn least(&self, schema: &Value) -> Option<Value> {
        self.value(schema, Fill::Least, &mut Vec::new())
    }

    /// A value in which everything is set that can be.
    pub(super) fn most(&self, schema: &Value) -> Option<Value> {
        self.value(schema, Fill::Most, &mut Vec::new())
    }

    fn value(&self, schema: &Value, fill: Fill, open: &mut Vec<String>) -> Option<Value> {
        if *schema == true {
            return Some(text("anything"));
        }
        let object = schema.as_object()?;
        if let Some(given) = given(object) {
            return Some(given.clone());
        }
        let fill = self.counted(fill);
        if let Some((name, definition)) = resolve(schema, self.definitions) {
            if open.contains(&name) {
                return None;
            }
            open.push(name);
            let value = self.value(definition, fill, open);
            open.pop();
            return value;
        }
        if let Some(branches) = branches(object) {
            let is_null = |branch: &&Value| (kind(branch) == Some("null")) == (fill == Fill::Least);
            let (first, last): (Vec<&Value>, Vec<&Value>) = branches.iter().partition(is_null);
            let mut ordered = first.into_iter().chain(last);
            return ordered.find_map(|branch| self.value(branch, fill, open));
        }
        match types(object, fill) {
            Some("object") => self.object(object, fill, open),
            Some("array") => self.list(object, fill, open),
            Some("string") => Some(string(object)),
            Some("integer") => Some(number(object, 1.0, true)),
            Some("number") => Some(number(object, 1.5, false)),
            Some("boolean") => Some(true.into()),
            Some("null") => Some(Value::Null),
            Some(_) | None if object.contains_key("properties") => self.object(object, fill, open),
            Some(_) | None => Some(text("anything")),
        }
    }

    fn counted(&self, fill: Fill) -> Fill {
        if fill == Fill::Most {
            let left = self.left.get();
            self.left.set(left.saturating_sub(1));
            if left == 0 {
                return Fill::Least;
            }
        }
        fill
    }

    fn object(
        &self,
        object: &Map<String, Value>,
        fill: Fill,
        open: &mut Vec<String>,
    ) -> Option<Value> {
        let mut value = Map::new();
        for (name, property) in properties(object) {
            let is_required = is_required(object, name);
            if !is_required && fill == Fill::Least {
                continue;
            }
            match self.value(property, fill, open) {
                Some(property) => {
                    value.insert(name.clone(), property);
                }
                None if is_required => return None,
                None => {}
            }
        }
        if fill == Fill::Most
            && let Some((key, entry)) = entry(object)
            && let Some(entry) = self.value(entry, fill, open)
        {
            value.insert(key, entry);
        }
        Some(value.into())
    }

    fn list(
        &self,
        object: &Map<String, Value>,
        fill: Fill,
        open: &mut Vec<String>,
    ) -> Option<Value> {
        let mut list = Vec::new();
        for element in object
            .get("prefixItems")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            list.push(self.value(element, fill, open)?);
        }
        if let Some(items) = object
            .get("items")
            .filter(|items| items.is_object() || **items == true)
        {
            let demanded = least_items(object);
            // Many a type refuses an empty list or text, and no dialect can say so everywhere: none is tried.
            let wanted = demanded.max(usize::from(list.is_empty()));
            while list.len() < wanted {
                match self.value(items, fill, open) {
                    Some(item) => list.push(item),
                    None if list.len() >= demanded => break,
                    None => return None,
                }
            }
        }
        Some(list.into())
    }
}

/// How many elements a list must have.
pub(super) fn least_items(object: &Map<String, Value>) -> usize {
    let least = object.get("minItems").and_then(Value::as_u64);
    least.map_or(0, |least| {
        usize::try_from(least)
            .unwrap_or(usize::MAX)
            .min(MOST_VALUES)
    })
}

/// The value that a schema names itself.
fn given(object: &Map<String, Value>) -> Option<&Value> {
    let first = |keyword| object.get(keyword).and_then(Value::as_array)?.first();
    object
        .get("const")
        .or_else(|| first("examples"))
        .or_else(|| first("enum"))
}

/// The branches of a union.
pub(super) fn branches(object: &Map<String, Value>) -> Option<&Vec<Value>> {
    ["anyOf", "oneOf"]
        .iter()
        .find_map(|keyword| object.get(*keyword)?.as_array())
}

/// The properties of an object.
pub(super) fn properties(object: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    object
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// The schema of the other properties that an object may have, and a key for one.
pub(super) fn entry(object: &Map<String, Value>) -> Option<(String, &Value)> {
    if let Some(patterns) = object.get("patternProperties").and_then(Value::as_object) {
        // Written for maps whose keys are numbers.
        return patterns
            .values()
            .next()
            .map(|value| ("1".to_owned(), value));
    }
    let values = object.get("additionalProperties")?;
    let keys = object.get("propertyNames").and_then(Value::as_object);
    let key = keys
        .and_then(given)
        .and_then(Value::as_str)
        .unwrap_or("key");
    (values.is_object() || *values == true).then(|| (key.to_owned(), values))
}

/// Whether an object must have a property.
pub(super) fn is_required(object: &Map<String, Value>, name: &str) -> bool {
    let required = object.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|required| required == name))
}

/// The one type that a schema names.
pub(super) fn kind(schema: &Value) -> Option<&str> {
    schema.get("type")?.as_str()
}

fn types(object: &Map<String, Value>, fill: Fill) -> Option<&str> {
    let kind = object.get("type")?;
    let kinds = || {
        kind.as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    };
    let wanted = || kinds().find(|kind| (*kind == "null") == (fill == Fill::Least));
    kind.as_str().or_else(wanted).or_else(|| kinds().next())
}

fn text(text: &str) -> Value {
    text.into()
}

fn string(object: &Map<String, Value>) -> Value {
    let sample = match object.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-02T03:04:05Z",
        Some("partial-date-time") => "2026-01-02T03:04:05",
        Some("partial-time") => "03:04:05",
        Some("date") => "2026-01-02",
        Some("time") => "03:04:05Z",
        Some("duration") => "PT1S",
        Some("email") => "name@example.com",
        Some("hostname") => "example.com",
        Some("uri" | "url" | "iri") => "https://example.com/",
        Some("ip" | "ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("uuid") => "01890a5d-ac96-774b-bcce-b302099a8057",
        _ => "text",
    };
    let bound = |keyword| {
        let bound = object.get(keyword).and_then(Value::as_u64)?;
        usize::try_from(bound).ok()
    };
    let mut sample: String = sample
        .chars()
        .take(bound("maxLength").unwrap_or(64))
        .collect();
    let missing = bound("minLength")
        .unwrap_or(0)
        .saturating_sub(sample.chars().count());
    sample.extend(std::iter::repeat_n('x', missing.min(1 << 16)));
    sample.into()
}

fn number(object: &Map<String, Value>, wanted: f64, is_integer: bool) -> Value {
    let bound = |keyword| object.get(keyword).and_then(Value::as_f64);
    let step = if is_integer { 1.0 } else { 0.5 };
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + step));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - step));
    let mut sample = least.map_or(wanted, |least| wanted.max(least));
    if let Some(multiple) = bound("multipleOf").filter(|multiple| *multiple > 0.0) {
        sample = (sample / multiple).ceil() * multiple;
    }
    sample = most.map_or(sample, |most| sample.min(most));
    if is_integer {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a sample within the bounds of an integer"
        )]
        return Value::from(sample as i64);
    }
    Number::from_f64(sample).map_or(Value::Null, Value::Number)
}
