//! Which route the rehearsal model takes: the one place where that is decided.
//!
//! In a routing record exactly one field may be set. The model takes the first of [`ORDER`] that the record has and
//! whose condition is met; then any route that [`NEVER`] does not name, in the order of the fields; and what [`NEVER`]
//! names only if there is nothing else. A script overrules all of it, and so does the router's own request to raise an
//! interrupt.

use std::collections::BTreeSet;

use routing_core::model::{ModelCaller, Purpose};
use serde_json::Value;

use super::facts::Facts;
use super::schema_view::{Demands, SchemaView, names_type, required, variants};

/// Routes that leave the way forward: taken only when asked for.
const NEVER: [&str; 2] = [INTERRUPT, "contextManagerRequest"];

/// The field in which an agent raises an interrupt.
pub(crate) const INTERRUPT: &str = "interruptRequest";

/// When a route of [`ORDER`] is taken.
#[derive(Debug, Clone, Copy)]
enum When {
    /// Whenever the record has it.
    Always,
    /// Only once all of the work below has been reported, by the name of its last result.
    Reported(&'static str),
}

/// The way forward, best first.
const ORDER: [(&str, When); 11] = [
    ("agentResult", When::Always),
    ("collectorResult", When::Always),
    ("reviewResult", When::Always),
    ("mergerResult", When::Always),
    ("collectorRequest", When::Reported("ticketCollectorResult")),
    ("agentRequests", When::Always),
    ("discoveryOrchestratorRequest", When::Always),
    ("planningOrchestratorRequest", When::Always),
    ("collectorRequest", When::Always),
    ("planningCollectorRequest", When::Always),
    ("ticketCollectorRequest", When::Always),
];

/// A routing record's routes: names and what each must contain.
pub(crate) type Routes = Vec<(String, Value)>;

/// The routes of a record in any dialect, or `None` where the schema is no routing record.
///
/// A record has two fields or more, each an object that need not be set: left out where it is
/// optional, null where it is required and nullable, a variant of its own where the root is a choice.
pub(crate) fn routes(view: &SchemaView<'_>, root: &Demands) -> Option<Routes> {
    routes_as_fields(view, root).or_else(|| routes_as_variants(view, root))
}

/// The one route of a record that was narrowed to this one.
pub(crate) fn only(root: &Demands, route: &str) -> Option<Routes> {
    let properties = root.get("properties")?.as_object()?;
    let request = properties.get(route)?;
    (properties.len() == 1).then(|| vec![(route.to_owned(), request.clone())])
}

/// The routes of which one is to be named and nothing else, by their names.
pub(crate) fn named(schema: &Value) -> Option<Routes> {
    let names = schema.pointer("/properties/route/enum")?.as_array()?;
    let name = |name: &Value| name.as_str().map(|name| (name.to_owned(), Value::Null));
    names.iter().map(name).collect()
}

fn routes_as_fields(view: &SchemaView<'_>, root: &Demands) -> Option<Routes> {
    let properties = root.get("properties")?.as_object()?;
    let is_route = |name: &str, schema: &Value| {
        let demands = view.demands(schema);
        let may_be_unset = view.takes_null(&demands) || !required(root).any(|other| other == name);
        may_be_unset && is_object(&view.without_null(&demands))
    };
    let all = properties.len() > 1
        && properties
            .iter()
            .all(|(name, schema)| is_route(name, schema));
    all.then(|| {
        properties
            .iter()
            .map(|(name, schema)| (name.clone(), schema.clone()))
            .collect()
    })
}

fn routes_as_variants(view: &SchemaView<'_>, root: &Demands) -> Option<Routes> {
    let one_route = |variant: &Value| {
        let demands = view.demands(variant);
        let properties = demands.get("properties")?.as_object()?;
        let (name, schema) = properties.iter().next()?;
        let is_route = properties.len() == 1
            && required(&demands).any(|other| other == name)
            && is_object(&view.demands(schema));
        is_route.then(|| (name.clone(), schema.clone()))
    };
    let routes: Option<Routes> = variants(root)?.iter().map(one_route).collect();
    routes.filter(|routes| {
        let names: BTreeSet<&str> = routes.iter().map(|(name, _)| name.as_str()).collect();
        routes.len() > 1 && names.len() == routes.len()
    })
}

fn is_object(demands: &Demands) -> bool {
    demands
        .get("type")
        .map_or(demands.contains_key("properties"), |types| {
            names_type(types, "object")
        })
}

/// The name of the route to take.
pub(crate) fn choose<'r>(
    routes: &'r Routes,
    facts: &Facts,
    caller: &ModelCaller,
) -> Option<&'r str> {
    let has = |wanted: &str| {
        routes
            .iter()
            .map(|(name, _)| name.as_str())
            .find(|name| *name == wanted)
    };
    let holds = |when: When| match when {
        When::Always => true,
        When::Reported(result) => caller.purpose == Purpose::Step && facts.mentions(result),
    };
    ORDER
        .iter()
        .filter(|(_, when)| holds(*when))
        .find_map(|(name, _)| has(name))
        .or_else(|| {
            routes
                .iter()
                .map(|(name, _)| name.as_str())
                .find(|name| !NEVER.contains(name))
        })
        .or_else(|| routes.first().map(|(name, _)| name.as_str()))
}

/// Of the `returnTo…` fields of a request, the one that leads back to the agent that writes it.
///
/// At most one of them is set, like the routes of a record.
pub(crate) fn return_field<'n>(
    names: impl Iterator<Item = &'n str>,
    caller: &ModelCaller,
) -> Option<&'n str> {
    let home = format!("returnTo{}", caller.agent_type.replace('_', ""));
    let mut first = None;
    for name in names.filter(|name| name.starts_with("returnTo")) {
        if name.eq_ignore_ascii_case(&home) {
            return Some(name);
        }
        first = first.or(Some(name));
    }
    first
}

/// Of the values of an enumeration, the one that lets the work continue, if there is one.
pub(crate) fn forward_value<'v>(values: &[&'v Value]) -> Option<&'v Value> {
    ["ADVANCE_PHASE", "PROCEED", "APPROVED", "HUMAN_REVIEW"]
        .iter()
        .find_map(|forward| values.iter().find(|value| value.as_str() == Some(forward)))
        .copied()
}
