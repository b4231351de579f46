//! Values that satisfy a schema, made of what there is to speak about.

mod scalar;

use std::borrow::Cow;

use interrupt_router::InterruptDetails;
use interrupt_router::model::ModelCaller;
use serde_json::{Map, Value, json};

use super::heard::Heard;
use super::random::Random;
use super::words::Words;

/// Below this depth only what must be there is made, so that recursive schemas come to an end.
const DEEP: usize = 6;

/// Below this depth nothing is made at all: what needs more has no finite value.
const BOTTOM: usize = 24;

/// How many references and parts of an `allOf` are followed for one value.
const MOST_HOPS: usize = 32;

/// How many elements a list has; work is given to one more, so that one sees agents side by side.
const USUAL_LENGTH: usize = 2;

/// The keywords of one schema.
type Keywords = Map<String, Value>;

/// Where in the answer a value is.
#[derive(Debug, Clone, Copy)]
struct Position<'p> {
    /// The name of the field, or of the list that it is an element of.
    name: &'p str,
    /// Which element of a list it is in, from 0; `None` outside of lists.
    index: Option<usize>,
    /// How many objects and lists are around it.
    depth: usize,
}

impl Position<'_> {
    /// Counted from 1 in lists, and 1 elsewhere. How sure it is is told in percent, and enough for most.
    fn usual_number(self) -> u32 {
        let number = u32::try_from(self.index.unwrap_or(0)).unwrap_or(0) + 1;
        if self.name == "confidence" {
            90
        } else {
            number
        }
    }
}

/// Makes one answer.
pub(super) struct Composer<'a> {
    pub(super) schema: &'a Value,
    pub(super) heard: &'a Heard,
    pub(super) caller: &'a ModelCaller,
    pub(super) words: Words<'a>,
    pub(super) random: Random,
}

impl Composer<'_> {
    /// The whole answer. In a record of routes one is set: the one that raises an interrupt where its fields are given,
    /// else the one that leads `forward`, else the first that raises no interrupt.
    pub(super) fn answer(
        &mut self,
        forward: Option<&str>,
        interrupt: Option<&Map<String, Value>>,
    ) -> Value {
        let root = self.keywords(self.schema).into_owned();
        let routes = self.routes(&root);
        let find =
            |is_wanted: &dyn Fn(&RouteSchema) -> bool| routes.iter().find(|route| is_wanted(route));
        let asked =
            interrupt.and_then(|fields| Some((find(&RouteSchema::raises_interrupt)?, fields)));
        let route = asked.map(|(route, _)| route);
        let route = route
            .or_else(|| find(&|route| forward == Some(&*route.name)))
            .or_else(|| find(&|route| !route.raises_interrupt()))
            .or(routes.first());
        let Some(route) = route else {
            return self.of_keywords(&root, TOP).unwrap_or_default();
        };
        let unset = required(&root).filter(|name| *name != route.name);
        let mut answer: Map<_, _> = unset.map(|name| (name.to_owned(), Value::Null)).collect();
        let position = within(TOP, &route.name);
        let request = self.object(&route.request, position, asked.map(|(_, fields)| fields));
        answer.insert(route.name.clone(), request.unwrap_or_default());
        Value::Object(answer)
    }

    /// The routes of a record in any dialect; none where the schema is no record of routes. A route is an object that need
    /// not be set: left out where it is optional, null where it is required, a variant of its own where the root is a
    /// choice. A record that was narrowed to one route is one if that raises an interrupt: another is an object.
    fn routes(&self, root: &Keywords) -> Vec<RouteSchema> {
        let only_field = |variant: &Value| {
            let variant = self.keywords(variant);
            let mut fields = properties(&variant);
            let (name, schema) = fields.next()?;
            if fields.next().is_some() {
                return None;
            }
            required(&variant)
                .any(|required| required == name)
                .then(|| (name.clone(), schema.clone()))
        };
        let choice = variants(root);
        let fields: Option<Vec<(String, Value)>> = match choice {
            Some(variants) => variants.iter().map(only_field).collect(),
            None => Some(
                properties(root)
                    .map(|(name, schema)| (name.clone(), schema.clone()))
                    .collect(),
            ),
        };
        let fields = fields.unwrap_or_default();
        let is_narrowed = fields.len() == 1;
        let route = |(name, schema): (String, Value)| {
            let own = self.keywords(&schema);
            let request = self.without_null(&own);
            let may_be_unset = is_narrowed
                || choice.is_some()
                || self.takes_null(&own)
                || required(root).all(|required| required != name);
            (may_be_unset && kind(&request) == "object").then_some(RouteSchema { name, request })
        };
        let routes: Option<Vec<RouteSchema>> = fields.into_iter().map(route).collect();
        let routes = routes.unwrap_or_default();
        match routes.as_slice() {
            [only] if !only.raises_interrupt() => Vec::new(),
            _ => routes,
        }
    }

    /// The keywords of a schema, with those that it refers to or joins.
    fn keywords<'v>(&self, schema: &'v Value) -> Cow<'v, Keywords> {
        let joins = |own: &Keywords| own.contains_key("$ref") || own.contains_key("allOf");
        match schema.as_object() {
            Some(own) if joins(own) => Cow::Owned(self.joined(schema, MOST_HOPS)),
            Some(own) => Cow::Borrowed(own),
            None => Cow::default(),
        }
    }

    fn joined(&self, schema: &Value, hops: usize) -> Keywords {
        let (Some(own), 1..) = (schema.as_object(), hops) else {
            return Keywords::new();
        };
        let mut own = own.clone();
        let target = own.remove("$ref");
        let target = target.as_ref().and_then(Value::as_str);
        let target = target.and_then(|target| self.schema.pointer(target.strip_prefix('#')?));
        let parts = own.remove("allOf").unwrap_or_default();
        for part in target
            .into_iter()
            .chain(parts.as_array().into_iter().flatten())
        {
            join(&mut own, self.joined(part, hops - 1));
        }
        own
    }

    fn takes_null(&self, keywords: &Keywords) -> bool {
        let names_null = match keywords.get("type") {
            Some(Value::Array(types)) => types.iter().any(|name| name == "null"),
            Some(name) => name == "null",
            None => false,
        };
        let is_null = |variant: &Value| self.takes_null(&self.keywords(variant));
        names_null || variants(keywords).is_some_and(|variants| variants.iter().any(is_null))
    }

    /// The keywords of the value that is set, where null may stand in its place.
    fn without_null(&self, keywords: &Keywords) -> Keywords {
        let set = variants(keywords)
            .and_then(|variants| variants.iter().find(|variant| !is_null(variant)));
        match set {
            Some(variant) => self.keywords(variant).into_owned(),
            None => keywords.clone(),
        }
    }

    /// A value that satisfies the schema; `None` where there is none that is finite.
    fn value(&mut self, schema: &Value, position: Position<'_>) -> Option<Value> {
        if *schema == false || position.depth > BOTTOM {
            return None;
        }
        let keywords = self.keywords(schema);
        self.of_keywords(&keywords, position)
    }

    fn of_keywords(&mut self, keywords: &Keywords, position: Position<'_>) -> Option<Value> {
        if let Some(constant) = keywords.get("const") {
            return Some(constant.clone());
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            let set = values.iter().find(|value| !value.is_null());
            return set.or(values.first()).cloned();
        }
        if let Some(variants) = variants(keywords) {
            return self.chosen(keywords, variants, position);
        }
        match kind(keywords) {
            "null" => Some(Value::Null),
            "boolean" => Some(json!(true)),
            "integer" => Some(scalar::number(keywords, position.usual_number(), true)),
            "number" => Some(scalar::number(keywords, position.usual_number(), false)),
            "array" => self.list(keywords, position),
            "object" => self.object(keywords, position, None),
            _ => {
                let description = keywords.get("description").and_then(Value::as_str);
                let words =
                    (self.words).text(self.heard, position.name, description, position.index);
                Some(scalar::text(keywords, words, &mut self.random))
            }
        }
    }

    /// The first variant that has a value: null last, and deep within an answer objects and lists last.
    fn chosen(
        &mut self,
        keywords: &Keywords,
        variants: &[Value],
        position: Position<'_>,
    ) -> Option<Value> {
        let mut ordered: Vec<&Value> = variants.iter().collect();
        ordered.sort_by_key(|variant| match kind(&self.keywords(variant)) {
            "null" => position.depth < DEEP,
            "object" | "array" => position.depth >= DEEP,
            _ => false,
        });
        ordered.into_iter().find_map(|variant| {
            if *variant == false {
                return None;
            }
            let mut own = keywords.clone();
            own.retain(|keyword, _| !CHOICES.contains(&keyword.as_str()));
            join(&mut own, self.keywords(variant).into_owned());
            self.of_keywords(&own, position)
        })
    }

    fn list(&mut self, keywords: &Keywords, position: Position<'_>) -> Option<Value> {
        let fewest = bound(keywords, "minItems").unwrap_or(0);
        let most = bound(keywords, "maxItems").unwrap_or(usize::MAX);
        let anything = json!({});
        let items = keywords.get("items").unwrap_or(&anything);
        if position.name == "selectedChoices" && !self.heard.choices.is_empty() {
            // What was not offered cannot be chosen.
            return Some(json!(&self.heard.choices[..most.min(1)]));
        }
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        let first = first.map_or(&[][..], Vec::as_slice);
        let usual = match position.depth {
            DEEP.. => 0,
            _ if position.name == "requests" => USUAL_LENGTH + 1,
            _ => USUAL_LENGTH,
        };
        let mut made = Vec::new();
        for index in 0..usual.max(first.len()).min(most).max(fewest) {
            let position = Position {
                index: Some(index),
                depth: position.depth + 1,
                ..position
            };
            match self.value(first.get(index).unwrap_or(items), position) {
                Some(element) => made.push(element),
                None if index >= fewest => break,
                None => return None,
            }
        }
        Some(Value::Array(made))
    }

    fn object(
        &mut self,
        keywords: &Keywords,
        position: Position<'_>,
        given: Option<&Map<String, Value>>,
    ) -> Option<Value> {
        // Fields that are given and unknown here are written all the same: the caller learns from the refusal.
        let mut object = given.cloned().unwrap_or_default();
        for (name, schema) in properties(keywords) {
            if object.contains_key(name) {
                continue;
            }
            let must = required(keywords).any(|required| required == name);
            let is_unsaid = position.depth >= DEEP || self.is_unsaid(name);
            if is_unsaid && !must {
                continue;
            }
            let value = if is_unsaid && self.takes_null(&self.keywords(schema)) {
                Some(Value::Null)
            } else {
                self.value(schema, within(position, name))
            };
            match value {
                Some(value) => {
                    object.insert(name.clone(), value);
                }
                None if must => return None,
                None => {}
            }
        }
        let anything = json!({});
        let others = keywords.get("additionalProperties");
        for name in required(keywords) {
            if !object.contains_key(name) {
                let value = self.value(others.unwrap_or(&anything), within(position, name))?;
                object.insert(name.to_owned(), value);
            }
        }
        if let Some(schema) = others.filter(|schema| **schema != false) {
            self.fill_map(keywords, schema, position, &mut object)?;
        }
        Some(Value::Object(object))
    }

    /// Whether a field is better left out: a way back to another caller than the one that asks, and the form of an
    /// answer, which would refuse what people say.
    fn is_unsaid(&self, name: &str) -> bool {
        let home = self.caller.agent_type.replace('_', "");
        let back = name.strip_prefix("returnTo");
        back.is_some_and(|back| !back.eq_ignore_ascii_case(&home)) || name == "answerForm"
    }

    /// The keys of a map: those that were offered, else one, and as many as there must be.
    fn fill_map(
        &mut self,
        keywords: &Keywords,
        schema: &Value,
        position: Position<'_>,
        object: &mut Map<String, Value>,
    ) -> Option<()> {
        let fewest = bound(keywords, "minProperties").unwrap_or(0);
        let most = bound(keywords, "maxProperties").unwrap_or(usize::MAX);
        let is_map = object.is_empty() && schema.is_object() && position.depth < DEEP;
        let mut names = match position.name {
            _ if !is_map => Vec::new(),
            "confirmations" => self.heard.confirmations.clone(),
            _ => vec!["note".to_owned()],
        };
        let missing = fewest.saturating_sub(object.len() + names.len());
        names.extend((0..missing).map(|index| format!("note{index}")));
        names.truncate(most);
        for name in names {
            match self.value(schema, within(position, &name)) {
                Some(value) => {
                    object.insert(name, value);
                }
                None if object.len() < fewest => return None,
                None => {}
            }
        }
        Some(())
    }
}

/// A route of a record.
#[derive(Debug)]
struct RouteSchema {
    name: String,
    request: Keywords,
}

impl RouteSchema {
    /// Whether its request is one of an interrupt.
    fn raises_interrupt(&self) -> bool {
        let fields = InterruptDetails::FIELDS.iter();
        fields
            .into_iter()
            .all(|field| properties(&self.request).any(|(name, _)| name == field))
            || names_interrupt(&self.name)
    }
}

/// Whether a route is called so that it raises an interrupt.
pub(super) fn names_interrupt(route: &str) -> bool {
    route.to_lowercase().contains("interrupt")
}

/// The whole answer.
const TOP: Position<'static> = Position {
    name: "answer",
    index: None,
    depth: 0,
};

fn within<'p>(around: Position<'_>, name: &'p str) -> Position<'p> {
    Position {
        name,
        index: around.index,
        depth: around.depth + 1,
    }
}

/// The keywords of which one variant is chosen.
const CHOICES: [&str; 2] = ["oneOf", "anyOf"];

fn variants(keywords: &Keywords) -> Option<&Vec<Value>> {
    CHOICES
        .iter()
        .find_map(|keyword| keywords.get(*keyword)?.as_array())
}

fn is_null(variant: &Value) -> bool {
    variant.get("type").is_some_and(|name| name == "null")
}

fn properties(keywords: &Keywords) -> impl Iterator<Item = (&String, &Value)> {
    let properties = keywords.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

fn required(keywords: &Keywords) -> impl Iterator<Item = &str> {
    let required = keywords.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

fn bound(keywords: &Keywords, keyword: &str) -> Option<usize> {
    usize::try_from(keywords.get(keyword)?.as_u64()?).ok()
}

/// The type that is made: the first that is named and not null; else the one that the other keywords speak of.
fn kind(keywords: &Keywords) -> &str {
    let speaks_of = |words: &[&str]| words.iter().any(|word| keywords.contains_key(*word));
    match keywords.get("type") {
        Some(Value::Array(types)) => {
            let mut names = types.iter().filter_map(Value::as_str);
            names.find(|name| *name != "null").unwrap_or("null")
        }
        Some(name) => name.as_str().unwrap_or_default(),
        None if speaks_of(&[
            "properties",
            "required",
            "additionalProperties",
            "minProperties",
        ]) =>
        {
            "object"
        }
        None if speaks_of(&["items", "prefixItems", "minItems", "maxItems"]) => "array",
        None if speaks_of(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]) => {
            "number"
        }
        None => "string",
    }
}

/// Joins two schemas that both hold. Of a keyword that both have, apart from their fields, the first stands.
fn join(into: &mut Keywords, other: Keywords) {
    for (keyword, demand) in other {
        match (into.get_mut(&keyword), demand) {
            (None, demand) => {
                into.insert(keyword, demand);
            }
            (Some(Value::Object(own)), Value::Object(more)) if keyword == "properties" => {
                own.extend(more)
            }
            (Some(Value::Array(own)), Value::Array(more)) if keyword == "required" => {
                own.extend(more)
            }
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests;
