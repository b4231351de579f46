//! What a workflow says of itself as data: its kinds of agents, where their answers may go, and what fits there.
//!
//! Code that shows a run, or decides one of its interrupts, knows no types of agents. It reads the catalogue that the
//! interrupt was raised under, which the store keeps beside it.

mod book;
mod change;
mod draft;
mod event;

pub use book::CatalogueBook;
pub use change::CatalogueChange;
pub use draft::{CatalogueDraft, CatalogueError};
pub use event::{EventError, NamedEvent, read_event};

use std::sync::Arc;

use interrupt_router::InterruptType;
use interrupt_router::schema::{AnswerSchema, Dialect};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::manager::AgentRoutes;
use crate::misfit::{Misfit, ValueSchema};
use crate::names::{KindName, RouteName, WorkflowName};

/// A kind of agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindEntry {
    /// Its name.
    pub name: KindName,
    /// Where the answer to its interrupt goes by default: one of the routes, or its own name if the answer can only go
    /// back to the agent that asked.
    pub origin: RouteName,
    /// What it may ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<InterruptType>,
    /// The JSON Schema of its request, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
}

/// A place where the answer to an interrupt may go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteEntry {
    /// The type of agent that it leads to.
    pub name: RouteName,
    /// The field of the routing record.
    pub field: String,
    /// The name of the request that goes there.
    pub request: String,
    /// What a model reads about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The JSON Schema of the routing record with this field alone, in full.
    pub schema: Value,
}

impl RouteEntry {
    /// The schema of its request, with the definitions that it needs.
    pub fn request_schema(&self) -> Value {
        request_in(&self.schema, &self.field)
    }

    /// What a model is shown of it, in the dialect that it takes. `record` is the name of the routing record.
    pub fn schema_in(&self, record: &str, dialect: Dialect) -> AnswerSchema {
        let name = format!("{record}_{}", self.field);
        AnswerSchema::from_plain(&name, self.schema.clone(), dialect)
    }

    /// What in a request does not fit, at most 20 places. A record around the request, as the schema of the route shows
    /// it, is understood too.
    pub fn misfits(&self, request: &Value) -> Vec<Misfit> {
        let found = misfits(&self.request_schema(), request);
        let is_record = !found.is_empty() && misfits(&self.schema, request).is_empty();
        if is_record { Vec::new() } else { found }
    }
}

/// The schema of the request in a field of a record, with the definitions that it needs.
fn request_in(record: &Value, field: &str) -> Value {
    let property = record["properties"].get(field);
    let mut request = property.cloned().unwrap_or(Value::Bool(true));
    if let (Some(definitions), Value::Object(request)) = (record.get("$defs"), &mut request) {
        request.insert("$defs".to_owned(), definitions.clone());
    }
    request
}

/// What in a value does not fit a schema, at most 20 places. No value fits an invalid schema.
pub fn misfits(schema: &Value, value: &Value) -> Vec<Misfit> {
    const MOST: usize = 20;
    match ValueSchema::compile(schema) {
        Ok(schema) => schema.misfits(value, MOST),
        Err(error) => vec![Misfit {
            path: "$".to_owned(),
            pointer: String::new(),
            reason: error.to_string(),
        }],
    }
}

/// A workflow's catalogue. One that is read is whole: see [`CatalogueDraft::check`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CatalogueDraft")]
pub struct Catalogue {
    name: WorkflowName,
    record: String,
    kinds: Vec<KindEntry>,
    routes: Vec<RouteEntry>,
    #[serde(skip_serializing)]
    digest: Digest,
}

/// A shared catalogue.
pub type SharedCatalogue = Arc<Catalogue>;

impl Catalogue {
    /// The workflow that it is of.
    pub const fn name(&self) -> &WorkflowName {
        &self.name
    }

    /// The name of the routing record that answers interrupts; empty if there are no routes to choose from.
    pub fn record(&self) -> &str {
        &self.record
    }

    /// The kinds of agents; the first one leads a run.
    pub fn kinds(&self) -> &[KindEntry] {
        &self.kinds
    }

    /// Where answers may go, in the order of their fields.
    pub fn routes(&self) -> &[RouteEntry] {
        &self.routes
    }

    /// The digest of its contents, regardless of the order of members in its JSON.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// A kind of agent.
    pub fn kind(&self, name: &str) -> Option<&KindEntry> {
        self.kinds.iter().find(|kind| kind.name.as_str() == name)
    }

    /// A route.
    pub fn route(&self, name: &str) -> Option<&RouteEntry> {
        self.routes.iter().find(|route| route.name.as_str() == name)
    }

    /// Where the answers to a kind's interrupts go, and may go.
    pub fn ways(&self, kind: &KindEntry) -> (RouteName, Vec<RouteName>) {
        let origin = kind.origin.clone();
        let routes = match self.route(origin.as_str()) {
            Some(_one_of_them) => self.routes.iter().map(|it| it.name.clone()).collect(),
            None => vec![origin.clone()],
        };
        (origin, routes)
    }

    /// What an interrupt says of an agent of a kind; without a kind, what it says of the first kind. `None` if there is
    /// no such kind.
    pub fn agent_routes(&self, kind: Option<&KindName>) -> Option<AgentRoutes> {
        let entry = match kind {
            Some(kind) => self.kind(kind.as_str()),
            None => self.kinds.first(),
        }?;
        let (origin, routes) = self.ways(entry);
        Some(AgentRoutes {
            kind: entry.name.clone(),
            origin,
            routes,
        })
    }
}
