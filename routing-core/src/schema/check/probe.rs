//! Answers that a schema allows or forbids, each at one place.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::schema::definition::{definitions, resolve};
use crate::schema::sample::{Sampler, bound, branches, entry, is_required, kind, properties};

/// What a schema says of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SchemaVerdict {
    /// It allows it.
    Allowed,
    /// It does not know the property.
    Unknown,
    /// It requires the property that is not there.
    Missing,
    /// It has another type of value, or other values, here.
    OtherValue,
}

/// An answer, the place that it is about, and what the schema says of it.
pub(super) struct Probe {
    pub(super) answer: Value,
    pub(super) pointer: String,
    pub(super) verdict: SchemaVerdict,
}

/// Definitions that have been looked at, each as it is written, outside of unions and within.
pub(super) type Seen = BTreeSet<(String, bool)>;

/// Makes probes of a schema: the smallest answer and the fullest, then one for each place and each way in which
/// an answer can differ there. What is within definitions that were seen is left out.
pub(super) fn probes(schema: &Value, seen: &mut Seen, tell: &mut dyn FnMut(Probe)) {
    let none = Map::new();
    let definitions = definitions(schema).unwrap_or(&none);
    let mut prober = Prober {
        definitions,
        samples: Sampler::new(schema, |_name| 1, |_place, _keywords| "text".to_owned()),
        seen,
        tell,
    };
    let root = ValuePath {
        pointer: "#".to_owned(),
        in_union: false,
    };
    for answer in [prober.samples.least(schema), prober.samples.most(schema)] {
        prober.allowed(&root, answer.unwrap_or_default());
    }
    prober.visit(schema, &root, &|value| value);
}

/// Where a value is in an answer.
#[derive(Clone)]
struct ValuePath {
    pointer: String,
    /// Whether it is within a union, whose parts serde may read from a buffer.
    in_union: bool,
}

impl ValuePath {
    fn child(&self, key: impl std::fmt::Display) -> Self {
        let key = key.to_string().replace('~', "~0").replace('/', "~1");
        Self {
            pointer: format!("{}/{key}", self.pointer),
            in_union: self.in_union,
        }
    }
}

/// Makes a whole answer of a value for one place.
type Embed<'e> = &'e dyn Fn(Value) -> Value;

struct Prober<'a> {
    definitions: &'a Map<String, Value>,
    samples: Sampler<'a>,
    seen: &'a mut Seen,
    tell: &'a mut dyn FnMut(Probe),
}

impl Prober<'_> {
    fn allowed(&mut self, place: &ValuePath, answer: Value) {
        self.tell(place, answer, SchemaVerdict::Allowed);
    }

    fn tell(&mut self, place: &ValuePath, answer: Value, verdict: SchemaVerdict) {
        (self.tell)(Probe {
            answer,
            pointer: place.pointer.clone(),
            verdict,
        });
    }

    fn visit(&mut self, schema: &Value, place: &ValuePath, embed: Embed<'_>) {
        if let Some((name, definition)) = resolve(schema, self.definitions) {
            let written = format!("{name} {definition}");
            if self.seen.insert((written, place.in_union)) {
                self.visit(definition, place, embed);
            }
            return;
        }
        let Value::Object(object) = schema else {
            return;
        };
        if let Some(branches) = branches(object) {
            return self.union(branches, place, embed);
        }
        if let Some(Value::Array(values)) = object.get("enum") {
            for value in values {
                self.allowed(place, embed(value.clone()));
            }
        }
        if object.contains_key("enum") || object.contains_key("const") {
            let other = json!("a value that the schema does not name");
            return self.tell(place, embed(other), SchemaVerdict::OtherValue);
        }
        match kind(schema) {
            Some("object") => self.object(object, place, embed),
            Some("array") => self.list(object, place, embed),
            Some("string") => self.tell(place, embed(json!(7)), SchemaVerdict::OtherValue),
            Some("integer" | "number" | "boolean") => {
                self.tell(place, embed(json!("text")), SchemaVerdict::OtherValue);
            }
            _ => {}
        }
    }

    fn union(&mut self, branches: &[Value], place: &ValuePath, embed: Embed<'_>) {
        let choices = branches
            .iter()
            .filter(|branch| kind(branch) != Some("null"));
        let inside = ValuePath {
            in_union: place.in_union || choices.count() > 1,
            ..place.clone()
        };
        for branch in branches {
            if let Some(value) = self.samples.least(branch) {
                self.allowed(place, embed(value));
            }
            self.visit(branch, &inside, embed);
        }
    }

    fn object(&mut self, object: &Map<String, Value>, place: &ValuePath, embed: Embed<'_>) {
        let Some(Value::Object(base)) = self.samples.least(&Value::Object(object.clone())) else {
            return;
        };
        let with = |name: &str, value: Value| {
            let mut whole = base.clone();
            whole.insert(name.to_owned(), value);
            embed(whole.into())
        };
        if object.get("additionalProperties") == Some(&Value::Bool(false))
            && !object.contains_key("patternProperties")
        {
            let unknown = place.child("unknownToTheSchema");
            self.tell(
                &unknown,
                with("unknownToTheSchema", json!(true)),
                SchemaVerdict::Unknown,
            );
        }
        let entry = entry(object);
        let entry = entry.as_ref().map(|(key, value)| (key, *value));
        for (name, property) in properties(object).chain(entry) {
            let inside = place.child(name);
            let Some(value) = self.samples.least(property) else {
                continue;
            };
            if is_required(object, name) {
                let mut whole = base.clone();
                whole.shift_remove(name);
                self.tell(&inside, embed(whole.into()), SchemaVerdict::Missing);
            } else {
                self.allowed(&inside, with(name, value));
            }
            self.visit(property, &inside, &|value| with(name, value));
        }
    }

    fn list(&mut self, object: &Map<String, Value>, place: &ValuePath, embed: Embed<'_>) {
        let Some(Value::Array(base)) = self.samples.least(&Value::Object(object.clone())) else {
            return;
        };
        let elements = object.get("prefixItems").and_then(Value::as_array);
        for (index, element) in elements.into_iter().flatten().enumerate() {
            self.visit(element, &place.child(index), &|value| {
                let mut list = base.clone();
                if let Some(slot) = list.get_mut(index) {
                    *slot = value;
                }
                embed(list.into())
            });
        }
        let Some(items) = object.get("items").filter(|items| items.is_object()) else {
            return;
        };
        let fixed = elements.map_or(0, Vec::len);
        let inside = place.child(fixed);
        let with = |value: Value| {
            let mut list: Vec<Value> = base.iter().take(fixed).cloned().collect();
            list.resize(bound(object, "minItems").unwrap_or(0).max(fixed + 1), value);
            embed(list.into())
        };
        if let Some(item) = self.samples.least(items) {
            self.allowed(&inside, with(item));
        }
        self.visit(items, &inside, &with);
    }
}
