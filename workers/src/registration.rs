//! A workflow as a worker describes it: what the compiler guarantees for Rust types is checked here on schemas that are data.

mod schema;

use interrupt_router::InterruptType;
use interrupts::catalogue::{
    Catalogue, CatalogueDraft, CatalogueError, KindEntry, RouteEntry, SharedCatalogue,
};
use interrupts::store::CatalogueRow;
use interrupts::{KindName, NameError, RouteName, WorkflowName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::WorkError;
use crate::protocol::Protocol;

/// The name of the record around the one route, of which a schema's name is made.
pub const RECORD: &str = "Routing";

/// The most characters of the field of a route: a provider's limit for names of properties.
const LONGEST_FIELD: usize = 64;

/// The names of workflows that are built in.
const BUILT_IN: [&str; 2] = ["agents", "plan-execute"];

/// A kind of agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindDraft {
    /// Its name.
    pub name: String,
    /// The route that its answers take unless they are sent elsewhere; the kind's own name if there is no such route
    /// and they only come back. Its own name if absent.
    #[serde(default)]
    pub origin: Option<String>,
    /// The JSON Schema of the question's own fields, if it has some.
    #[serde(default)]
    pub fields: Option<Value>,
}

/// A target for answers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteDraft {
    /// Its name.
    pub name: String,
    /// The property in which a model gives the request.
    pub field: String,
    /// The name of the request; that of the field if absent.
    #[serde(default)]
    pub request: Option<String>,
    /// What a model reads about it.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of the request.
    pub schema: Value,
}

/// A workflow that is to be registered.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowDraft {
    /// The kinds of agents; the first one leads a run.
    pub kinds: Vec<KindDraft>,
    /// The routes that answers may take.
    #[serde(default)]
    pub routes: Vec<RouteDraft>,
}

/// Why a workflow is not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {reason}; {remedy}")]
pub struct RegistrationError {
    /// Where in the body, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there.
    pub reason: String,
    /// What helps.
    pub remedy: String,
}

impl RegistrationError {
    fn at(pointer: String, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            pointer,
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

impl From<CatalogueError> for RegistrationError {
    fn from(error: CatalogueError) -> Self {
        // The worker did not write what the catalogue puts around a request.
        let pointer = match error.pointer.split_once("/schema/properties/") {
            Some((route, _field)) => format!("{route}/field"),
            None => error.pointer,
        };
        Self::at(pointer, error.reason, error.remedy)
    }
}

impl WorkflowDraft {
    /// Its catalogue, or everything that is wrong with it.
    ///
    /// # Errors
    ///
    /// Each [`RegistrationError`] names the place and the remedy.
    pub fn check(self, name: &WorkflowName) -> Result<Catalogue, Vec<RegistrationError>> {
        let mut wrong = Vec::new();
        if BUILT_IN.contains(&name.as_str()) {
            let reason = format!("`{name}` is a workflow of the program itself");
            wrong.push(RegistrationError::at(
                String::new(),
                reason,
                "choose another name",
            ));
        }
        let mut kinds = Vec::new();
        for (place, kind) in self.kinds.into_iter().enumerate() {
            match kind_of(kind, &format!("/kinds/{place}")) {
                Ok(kind) => kinds.push(kind),
                Err(found) => wrong.extend(found),
            }
        }
        let mut routes = Vec::new();
        for (place, route) in self.routes.into_iter().enumerate() {
            match route_of(route, &format!("/routes/{place}")) {
                Ok(route) => routes.push(route),
                Err(found) => wrong.extend(found),
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let record = if routes.is_empty() { "" } else { RECORD };
        let draft = CatalogueDraft {
            name: name.clone(),
            record: record.to_owned(),
            kinds,
            routes,
        };
        draft.check().map_err(|error| vec![error.into()])
    }
}

fn kind_of(kind: KindDraft, at: &str) -> Result<KindEntry, Vec<RegistrationError>> {
    let origin = kind.origin.unwrap_or_else(|| kind.name.clone());
    let name = KindName::new(kind.name).map_err(|error| misnamed(at, "name", &error))?;
    let origin = RouteName::new(origin).map_err(|error| misnamed(at, "origin", &error))?;
    if let Some(fields) = &kind.fields {
        schema::check(fields, &format!("{at}/fields"))?;
    }
    Ok(KindEntry {
        name,
        origin,
        asks: vec![InterruptType::HumanReview],
        request: kind.fields,
    })
}

fn route_of(route: RouteDraft, at: &str) -> Result<RouteEntry, Vec<RegistrationError>> {
    let name = RouteName::new(route.name).map_err(|error| misnamed(at, "name", &error))?;
    check_field(&route.field, at)?;
    let pointer = format!("{at}/schema");
    schema::check(&route.schema, &pointer)?;
    let entry = RouteEntry {
        name,
        request: route.request.unwrap_or_else(|| route.field.clone()),
        description: route.description,
        schema: record_around(&route.field, route.schema),
        field: route.field,
    };
    schema::check_limits(&entry, RECORD, &pointer)?;
    Ok(entry)
}

fn misnamed(at: &str, member: &str, error: &NameError) -> Vec<RegistrationError> {
    let pointer = format!("{at}/{member}");
    vec![RegistrationError::at(
        pointer,
        error.to_string(),
        "give it another name",
    )]
}

fn check_field(field: &str, at: &str) -> Result<(), Vec<RegistrationError>> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if !field.is_empty() && field.len() <= LONGEST_FIELD && field.bytes().all(fits) {
        return Ok(());
    }
    Err(vec![RegistrationError::at(
        format!("{at}/field"),
        format!("`{field}` is no name that every provider takes for a property"),
        format!("use 1 to {LONGEST_FIELD} letters, digits, `_`, `.` and `-`"),
    )])
}

/// The schema of the record with only this field.
fn record_around(field: &str, mut request: Value) -> Value {
    let definitions = request
        .as_object_mut()
        .and_then(|request| request.shift_remove("$defs"));
    let mut properties = Map::new();
    properties.insert(field.to_owned(), request);
    let mut record = json!({
        "type": "object",
        "properties": properties,
        "required": [field],
        "additionalProperties": false,
    });
    if let Some(definitions) = definitions {
        record["$defs"] = definitions;
    }
    record
}

impl Protocol<'_> {
    /// Registers a workflow. The same content is the same version; other content is a new one.
    ///
    /// # Errors
    ///
    /// [`WorkError::Store`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn register(&self, catalogue: Catalogue) -> Result<CatalogueRow, WorkError> {
        let catalogue = SharedCatalogue::new(catalogue);
        Ok(self.store.keep_catalogue(catalogue).await?)
    }
}
