//! The routes that an answer may take, and the one that a rehearsal takes.

use interrupt_router::InterruptDetails;
use serde_json::{Map, Value};

/// How many references are followed to one schema.
const MOST_HOPS: usize = 32;

/// A route that an answer may take.
#[derive(Debug)]
pub(super) struct Route<'s> {
    pub(super) name: &'s str,
    /// What its request fits.
    pub(super) request: &'s Value,
    pub(super) raises_interrupt: bool,
}

impl<'s> Route<'s> {
    /// The routes of a record in any dialect; none if the schema is no record of routes. A route is an object that need not
    /// be set: left out if it is optional, null if it is required, a variant of its own if the root is a choice.
    pub(super) fn of_record(schema: &'s Value) -> Vec<Self> {
        let root = target(schema, schema);
        let variants = variants(root);
        let fields: Vec<(&String, &Value)> = match variants {
            Some(variants) => {
                let targets = variants.iter().map(|variant| target(schema, variant));
                targets.flat_map(properties).collect()
            }
            None => properties(root).collect(),
        };
        let is_choice = variants.is_some_and(|variants| variants.len() == fields.len());
        let route = |(name, field): &(&'s String, &'s Value)| {
            let is_null = |variant: &Value| variant.get("type").is_some_and(|kind| kind == "null");
            let nullable = self::variants(field).filter(|them| them.iter().any(is_null));
            let set = nullable.and_then(|them| them.iter().find(|variant| !is_null(variant)));
            let is_optional = required(root).all(|required| required != *name);
            let may_be_unset = set.is_some() || is_choice || is_optional || fields.len() == 1;
            let request = set.unwrap_or(field);
            let object = target(schema, request);
            let has = |field: &&str| properties(object).any(|(name, _)| name == field);
            let is_route = may_be_unset && object.get("type").is_some_and(|kind| kind == "object");
            is_route.then_some(Self {
                name,
                request,
                raises_interrupt: names_interrupt(name) || InterruptDetails::FIELDS.iter().all(has),
            })
        };
        let routes: Option<Vec<Self>> = fields.iter().map(route).collect();
        let mut routes = routes.unwrap_or_default();
        // A record that was narrowed to one route is an object like another, unless that raises an interrupt.
        if routes.len() == 1 {
            routes.retain(|only| only.raises_interrupt);
        }
        routes
    }

    /// The routes of which a model names one before it fills in the request.
    pub(super) fn to_name(schema: &'s Value) -> Vec<Self> {
        let names = schema.pointer("/properties/route/enum");
        let names = names.and_then(Value::as_array).into_iter().flatten();
        let route = |name| Self {
            name,
            request: schema,
            raises_interrupt: names_interrupt(name),
        };
        names.filter_map(Value::as_str).map(route).collect()
    }

    /// The one that is taken: one that raises an interrupt if it shall, else the one that leads forward, else the first that
    /// raises none.
    pub(super) fn taken<'r>(
        routes: &'r [Self],
        interrupt: Option<&Map<String, Value>>,
        forward: Option<&str>,
    ) -> Option<&'r Self> {
        let find = |fits: &dyn Fn(&Self) -> bool| routes.iter().find(|route| fits(route));
        let asked = interrupt.and_then(|_| find(&|route| route.raises_interrupt));
        asked
            .or_else(|| find(&|route| forward == Some(route.name)))
            .or_else(|| find(&|route| !route.raises_interrupt))
            .or(routes.first())
    }
}

/// The names of the properties that a record must have.
pub(super) fn must_have(schema: &Value) -> impl Iterator<Item = &str> {
    required(target(schema, schema))
}

fn names_interrupt(route: &str) -> bool {
    route.to_lowercase().contains("interrupt")
}

/// What a schema refers to, at last.
fn target<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    for _hop in 0..MOST_HOPS {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|target| root.pointer(target.strip_prefix('#')?));
        schema = target.unwrap_or(schema);
    }
    schema
}

fn variants(schema: &Value) -> Option<&Vec<Value>> {
    let variants = schema.get("anyOf").or_else(|| schema.get("oneOf"));
    variants?.as_array()
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}
