//! Values that a schema allows.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::definition::{definitions, resolve};

/// How many values a full sample is made of before its rest is left out: types that refer to many others
/// have no end otherwise.
const MOST_VALUES: usize = 4_000;

/// How many values are tried for one sample.
const MOST_TRIES: usize = 1 << 14;

/// The longest list or text that is made, whatever a schema demands.
const LONGEST: usize = 1 << 16;

/// The keywords of which one branch is chosen.
const UNIONS: [&str; 2] = ["anyOf", "oneOf"];

/// The keywords of one schema.
type Keywords = Map<String, Value>;

/// Where in a sample a value is.
#[derive(Debug, Clone, Copy)]
pub struct SamplePlace<'p> {
    /// The name of the property, or of the list that it is an element of.
    pub name: &'p str,
    /// Which element of a list it is in, from 0; `None` outside of lists.
    pub index: Option<usize>,
}

/// Says what a text is at a place that has these keywords.
type SayText<'a> = dyn FnMut(SamplePlace<'_>, &Keywords) -> String + 'a;

/// Makes values of a schema and its parts; the same ones each time.
pub struct Sampler<'a> {
    root: &'a Value,
    /// How many more values have all that can be set, and how many more are tried.
    left: usize,
    tries: usize,
    /// The references that are followed now: a value within itself would have no end.
    open: Vec<String>,
    length: fn(&str) -> usize,
    text: Box<SayText<'a>>,
}

impl<'a> Sampler<'a> {
    /// For a schema whose definitions are at its root. `length` is that of a list by its name, `text` that of a place with
    /// the keywords that are there; both are brought within the bounds of the schema.
    pub fn new(
        root: &'a Value,
        length: fn(&str) -> usize,
        text: impl FnMut(SamplePlace<'_>, &Map<String, Value>) -> String + 'a,
    ) -> Self {
        Self {
            root,
            left: 0,
            tries: 0,
            open: Vec::new(),
            length,
            text: Box::new(text),
        }
    }

    /// The smallest value; `None` if there is none, no finite one, or none was found.
    pub fn least(&mut self, schema: &Value) -> Option<Value> {
        self.sample(schema, 0)
    }

    /// A value in which everything is set that can be.
    pub fn most(&mut self, schema: &Value) -> Option<Value> {
        self.sample(schema, MOST_VALUES)
    }

    fn sample(&mut self, schema: &Value, left: usize) -> Option<Value> {
        (self.left, self.tries) = (left, MOST_TRIES);
        self.value(schema, TOP)
    }

    fn value(&mut self, schema: &Value, place: SamplePlace<'_>) -> Option<Value> {
        self.tries = self.tries.checked_sub(1)?;
        let open = self.open.len();
        let keywords = self.keywords(schema);
        let value = keywords.and_then(|keywords| self.of(&keywords, place));
        self.open.truncate(open);
        value
    }

    /// The keywords of a schema, with those that it refers to or joins; `None` if nothing finite fits them.
    fn keywords<'s>(&mut self, schema: &'s Value) -> Option<Cow<'s, Keywords>> {
        let Value::Object(own) = schema else {
            return (*schema != false).then(Cow::default);
        };
        let reference = own.get("$ref").and_then(Value::as_str);
        let all = own.get("allOf").and_then(Value::as_array);
        if reference.is_none() && all.is_none() {
            return Some(Cow::Borrowed(own));
        }
        let mut parts: Vec<&Value> = all.into_iter().flatten().collect();
        if let Some(reference) = reference {
            if self.open.iter().any(|open| open == reference) {
                return None;
            }
            self.open.push(reference.to_owned());
            let defined = definitions(self.root).and_then(|all| resolve(schema, all));
            let elsewhere = || self.root.pointer(reference.strip_prefix('#')?);
            parts.extend(defined.map(|(_, target)| target).or_else(elsewhere));
        }
        let mut joined = own.clone();
        joined.retain(|keyword, _| keyword != "$ref" && keyword != "allOf");
        for part in parts {
            join(&mut joined, self.keywords(part)?.into_owned());
        }
        Some(Cow::Owned(joined))
    }

    fn of(&mut self, keywords: &Keywords, place: SamplePlace<'_>) -> Option<Value> {
        if let Some(given) = given(keywords) {
            return Some(given.clone());
        }
        let is_full = self.left > 0;
        self.left = self.left.saturating_sub(1);
        if let Some(branches) = branches(keywords) {
            let mut ordered: Vec<&Value> = branches.iter().collect();
            ordered.sort_by_key(|branch| (kind(branch) == Some("null")) == is_full);
            let around = keywords.iter();
            let around = around.filter(|(keyword, _)| !UNIONS.contains(&keyword.as_str()));
            let mut around: Keywords = around
                .map(|(it, demand)| (it.clone(), demand.clone()))
                .collect();
            return ordered.into_iter().find_map(|branch| {
                around.insert("allOf".to_owned(), json!([branch]));
                self.value(&Value::Object(around.clone()), place)
            });
        }
        match types(keywords, is_full) {
            Some("object") => self.object(keywords, place, is_full),
            Some("array") => self.list(keywords, place, is_full),
            Some("integer") => Some(number(keywords, place, true)),
            Some("number") => Some(number(keywords, place, false)),
            Some("boolean") => Some(true.into()),
            Some("null") => Some(Value::Null),
            None if keywords.contains_key("properties") => self.object(keywords, place, is_full),
            Some(_) | None => Some(self.string(keywords, place)),
        }
    }

    fn object(
        &mut self,
        keywords: &Keywords,
        place: SamplePlace<'_>,
        is_full: bool,
    ) -> Option<Value> {
        let least = bound(keywords, "minProperties").unwrap_or(0);
        let most = bound(keywords, "maxProperties").unwrap_or(usize::MAX);
        let anything = Value::Bool(true);
        let other = keywords.get("additionalProperties").unwrap_or(&anything);
        let known = keywords.get("properties").unwrap_or(&Value::Null);
        let mut object = Map::new();
        let unlisted = strings(keywords, "required").filter(|name| known.get(name).is_none());
        let unlisted = unlisted.map(|name| (name, other));
        let listed = properties(keywords).map(|(name, property)| (&**name, property));
        for (name, property) in listed.chain(unlisted) {
            let must = is_required(keywords, name);
            if !must && (!is_full || object.len() >= most) {
                continue;
            }
            match self.value(property, SamplePlace { name, ..place }) {
                Some(property) => {
                    object.insert(name.to_owned(), property);
                }
                None if must => return None,
                None => {}
            }
        }
        if let Some((key, entry)) = entry(keywords) {
            let wanted = least.max(object.len() + usize::from(is_full)).min(most);
            let numbered = (2..).map(|count| format!("{key}{count}"));
            let is_free = |name: &String| known.get(name).is_none() && !is_required(keywords, name);
            let names = std::iter::once(key.clone()).chain(numbered).filter(is_free);
            for key in names.take(wanted.saturating_sub(object.len())) {
                let name = &*key;
                match self.value(entry, SamplePlace { name, ..place }) {
                    Some(entry) => object.insert(key, entry),
                    None if object.len() < least => return None,
                    None => break,
                };
            }
        }
        Some(object.into())
    }

    fn list(
        &mut self,
        keywords: &Keywords,
        place: SamplePlace<'_>,
        is_full: bool,
    ) -> Option<Value> {
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        let first = first.map_or(&[][..], Vec::as_slice);
        let anything = Value::Bool(true);
        let items = keywords.get("items");
        // Many a type refuses an empty list or text, and no dialect can say so everywhere: none is tried.
        let usual = match items {
            Some(_) if is_full => (self.length)(place.name),
            items => usize::from(items.is_some()),
        };
        let demanded = bound(keywords, "minItems").unwrap_or(0).max(first.len());
        let most = bound(keywords, "maxItems").unwrap_or(usize::MAX);
        let mut list = Vec::new();
        for index in 0..demanded.max(usual).min(most) {
            let schema = first.get(index).or(items).unwrap_or(&anything);
            let index = Some(index);
            match self.value(schema, SamplePlace { index, ..place }) {
                Some(item) => list.push(item),
                None if list.len() >= demanded => break,
                None => return None,
            }
        }
        Some(list.into())
    }

    fn string(&mut self, keywords: &Keywords, place: SamplePlace<'_>) -> Value {
        let format = keywords.get("format").and_then(Value::as_str);
        let format = format.filter(|_| !keywords.contains_key("pattern"));
        let text = match format.and_then(of_format) {
            Some(text) => text.to_owned(),
            None => (self.text)(place, keywords),
        };
        let least = bound(keywords, "minLength").unwrap_or(0);
        let missing = least.saturating_sub(text.chars().count());
        let padded = text.chars().chain(std::iter::repeat_n('.', missing));
        let most = bound(keywords, "maxLength").unwrap_or(usize::MAX);
        padded.take(most).collect::<String>().into()
    }
}

/// The whole value.
const TOP: SamplePlace<'static> = SamplePlace {
    name: "answer",
    index: None,
};

/// Joins two schemas that both hold. Of a keyword that both have, apart from their properties, the first stands.
fn join(into: &mut Keywords, other: Keywords) {
    for (keyword, demand) in other {
        match (into.get_mut(&keyword), demand) {
            (Some(Value::Object(own)), Value::Object(more)) if keyword == "properties" => {
                own.extend(more);
            }
            (Some(Value::Array(own)), Value::Array(more)) if keyword == "required" => {
                own.extend(more);
            }
            (Some(_), _) => {}
            (None, demand) => {
                into.insert(keyword, demand);
            }
        }
    }
}

/// What a schema bounds a length or a number of parts by.
pub(super) fn bound(keywords: &Keywords, keyword: &str) -> Option<usize> {
    let bound = usize::try_from(keywords.get(keyword)?.as_u64()?);
    Some(bound.unwrap_or(LONGEST).min(LONGEST))
}

/// The value that a schema names itself; null only if there is no other.
fn given(keywords: &Keywords) -> Option<&Value> {
    let first = |keyword| {
        let values = keywords.get(keyword).and_then(Value::as_array)?;
        values
            .iter()
            .find(|value| !value.is_null())
            .or(values.first())
    };
    keywords
        .get("const")
        .or_else(|| first("examples"))
        .or_else(|| first("enum"))
}

/// The branches of a union.
pub(super) fn branches(keywords: &Keywords) -> Option<&Vec<Value>> {
    let mut unions = UNIONS.iter();
    unions.find_map(|keyword| keywords.get(*keyword)?.as_array())
}

/// The properties of an object.
pub(super) fn properties(keywords: &Keywords) -> impl Iterator<Item = (&String, &Value)> {
    let properties = keywords.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

/// The schema of the other properties that an object may have, and a key for one.
pub(super) fn entry(keywords: &Keywords) -> Option<(String, &Value)> {
    if let Some(patterns) = keywords.get("patternProperties").and_then(Value::as_object) {
        // Written for maps whose keys are numbers.
        return patterns
            .values()
            .next()
            .map(|value| ("1".to_owned(), value));
    }
    let values = keywords.get("additionalProperties")?;
    let keys = keywords.get("propertyNames").and_then(Value::as_object);
    let key = keys
        .and_then(given)
        .and_then(Value::as_str)
        .unwrap_or("key");
    (values.is_object() || *values == true).then(|| (key.to_owned(), values))
}

/// Whether an object must have a property.
pub(super) fn is_required(keywords: &Keywords, name: &str) -> bool {
    strings(keywords, "required").any(|required| required == name)
}

fn strings<'k>(keywords: &'k Keywords, keyword: &str) -> impl Iterator<Item = &'k str> {
    let strings = keywords.get(keyword).and_then(Value::as_array);
    strings.into_iter().flatten().filter_map(Value::as_str)
}

/// The one type that a schema names.
pub(super) fn kind(schema: &Value) -> Option<&str> {
    schema.get("type")?.as_str()
}

fn types(keywords: &Keywords, is_full: bool) -> Option<&str> {
    let one = keywords.get("type")?.as_str();
    let wanted = strings(keywords, "type").find(|kind| (*kind == "null") != is_full);
    one.or(wanted).or_else(|| strings(keywords, "type").next())
}

fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2026-01-02T03:04:05Z",
        "partial-date-time" => "2026-01-02T03:04:05",
        "partial-time" => "03:04:05",
        "date" => "2026-01-02",
        "time" => "03:04:05Z",
        "duration" => "PT1S",
        "email" => "name@example.com",
        "hostname" => "example.com",
        "uri" | "url" | "uri-reference" | "iri" => "https://example.com/",
        "ip" | "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uuid" => "01890a5d-ac96-774b-bcce-b302099a8057",
        _ => return None,
    })
}

/// The number nearest to the usual one, which counts in lists, that is within bounds.
fn number(keywords: &Keywords, place: SamplePlace<'_>, is_integer: bool) -> Value {
    let bound = |keyword| keywords.get(keyword).and_then(Value::as_f64);
    let beyond = |bound: f64, next: fn(f64) -> f64, step| {
        if is_integer {
            bound + step
        } else {
            next(bound)
        }
    };
    let above = bound("exclusiveMinimum").map(|bound| beyond(bound, f64::next_up, 1.0));
    let below = bound("exclusiveMaximum").map(|bound| beyond(bound, f64::next_down, -1.0));
    let least = bound("minimum")
        .unwrap_or(f64::MIN)
        .max(above.unwrap_or(f64::MIN));
    let most = bound("maximum")
        .unwrap_or(f64::MAX)
        .min(below.unwrap_or(f64::MAX));
    let count = f64::from(u32::try_from(place.index.unwrap_or(0)).unwrap_or(0));
    let usual = count + if is_integer { 1.0 } else { 1.5 };
    let mut sample = usual.min(most).max(least);
    if is_integer {
        sample = sample.ceil();
    }
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        let up = (sample / step).ceil() * step;
        sample = if up > most { up - step } else { up };
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a bound beyond the range of integers saturates"
    )]
    if is_integer {
        json!(sample as i64)
    } else {
        json!(sample)
    }
}
