//! Where schemas come from: types, by way of schemars.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::closed::close;
use super::compose::compose;
use super::definition::{put_definitions, resolve};
use super::prune::prune;
use crate::route::RouteId;
use crate::route_set::RouteSet;
use crate::routing::Routing;

/// Draft 2020-12.
const META_SCHEMA: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema before it is written in a dialect.
pub(super) struct Source {
    /// The name for providers.
    pub(super) name: String,
    /// As plain JSON Schema says it.
    pub(super) plain: Value,
    /// What is rendered for providers, and what answers are checked against once they are read: a
    /// record's unset routes may be null in it, for OpenAI's strict mode demands each property.
    pub(super) lenient: Value,
}

fn generator() -> SchemaGenerator {
    SchemaGenerator::new(SchemaSettings::draft2020_12())
}

/// The schema of a type, for an answer that is no routing record.
pub(super) fn of_type<T: JsonSchema>(name: &str) -> Source {
    let mut generator = generator();
    let mut root = generator.subschema_for::<T>().to_value();
    let definitions = generator.take_definitions(true);
    // The root must say itself what it is: providers take no bare reference there.
    if let Some((_name, definition)) = resolve(&root, &definitions) {
        root = definition.clone();
    }
    let plain = finish(root, definitions);
    Source {
        name: provider_name(name),
        lenient: plain.clone(),
        plain,
    }
}

/// The schema in which one route alone may be set, and must.
pub(super) fn of_route<R: Routing>(route: RouteId<R>) -> Source {
    let mut generator = generator();
    let field = route.field();
    let property = property_of(route, &mut generator);
    let root = json!({
        "type": "object",
        "properties": { (field): property },
        "required": [field],
        "additionalProperties": false,
    });
    let plain = finish(root, generator.take_definitions(true));
    Source {
        name: provider_name(&format!("{}_{field}", R::NAME)),
        lenient: plain.clone(),
        plain,
    }
}

/// The schema in which exactly one of these routes may be set.
pub(super) fn of_routes<R: Routing>(name: &str, routes: RouteSet<R>) -> Source {
    let mut generator = generator();
    let mut plain = Map::new();
    let mut lenient = Map::new();
    for route in routes.iter() {
        let property = property_of(route, &mut generator);
        lenient.insert(route.field().to_owned(), or_null(property.clone()));
        plain.insert(route.field().to_owned(), property);
    }
    let definitions = generator.take_definitions(true);
    let mut root = Map::new();
    if !R::__description().is_empty() {
        root.insert("description".to_owned(), R::__description().into());
    }
    root.insert("type".to_owned(), "object".into());
    let mut lenient_root = root.clone();
    root.insert("properties".to_owned(), plain.into());
    root.insert("additionalProperties".to_owned(), false.into());
    root.insert("minProperties".to_owned(), 1.into());
    root.insert("maxProperties".to_owned(), 1.into());
    lenient_root.insert("properties".to_owned(), lenient.into());
    lenient_root.insert("additionalProperties".to_owned(), false.into());
    Source {
        name: provider_name(name),
        plain: finish(root.into(), definitions.clone()),
        lenient: finish(lenient_root.into(), definitions),
    }
}

fn property_of<R: Routing>(route: RouteId<R>, generator: &mut SchemaGenerator) -> Value {
    let request = R::__request_schema(route.index(), generator);
    route_property(route, request).to_value()
}

/// The schema of a route's property: its request's, with the field's description.
pub(crate) fn route_property<R: Routing>(route: RouteId<R>, request: Schema) -> Schema {
    let mut property = request;
    let description = route.info().description;
    if !description.is_empty() {
        property.insert("description".to_owned(), description.into());
    }
    property
}

fn or_null(mut property: Value) -> Value {
    let description = property
        .as_object_mut()
        .and_then(|object| object.shift_remove("description"));
    let mut either = json!({ "anyOf": [property, { "type": "null" }] });
    if let (Some(object), Some(description)) = (either.as_object_mut(), description) {
        object.insert("description".to_owned(), description);
    }
    either
}

fn finish(mut root: Value, definitions: Map<String, Value>) -> Value {
    put_definitions(&mut root, definitions);
    compose(&mut root);
    prune(&mut root);
    close(&mut root);
    let mut whole = json!({ "$schema": META_SCHEMA });
    if let (Value::Object(whole), Value::Object(root)) = (&mut whole, root) {
        whole.extend(root);
    }
    whole
}

/// The name in the letters that providers take, at least 1 and at most 64 of them.
pub(super) fn provider_name(name: &str) -> String {
    let known: String = name
        .chars()
        .map(|char| match char {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => char,
            _ => '_',
        })
        .take(64)
        .collect();
    if known.is_empty() {
        "answer".to_owned()
    } else {
        known
    }
}
