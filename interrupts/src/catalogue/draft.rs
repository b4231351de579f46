//! A catalogue before it is checked.

use std::collections::BTreeSet;

use interrupt_router::{AgentType, InterruptRoutes, InterruptType, RouteId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Catalogue, KindEntry, RouteEntry, request_in};
use crate::canonical::canonical_json;
use crate::digest::Digest;
use crate::names::{KindName, NameError, RouteName, WorkflowName};

/// The most bytes of a catalogue's JSON.
const MOST_BYTES: usize = 8 << 20;

/// The contents of a catalogue to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueDraft {
    /// The workflow that it is of.
    pub name: WorkflowName,
    /// The name of the routing record that answers interrupts; empty if there are no routes to choose from.
    #[serde(default)]
    pub record: String,
    /// The kinds of agents; the first one leads a run.
    pub kinds: Vec<KindEntry>,
    /// Where answers may go, in the order of their fields.
    #[serde(default)]
    pub routes: Vec<RouteEntry>,
}

/// Why a catalogue is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the catalogue at {pointer}: {reason}; {remedy}")]
#[non_exhaustive]
pub struct CatalogueError {
    /// Where, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there.
    pub reason: String,
    /// What helps.
    pub remedy: &'static str,
}

impl CatalogueError {
    fn at(pointer: impl Into<String>, reason: impl Into<String>, remedy: &'static str) -> Self {
        Self {
            pointer: pointer.into(),
            reason: reason.into(),
            remedy,
        }
    }

    fn named(pointer: String, error: &NameError) -> Self {
        Self::at(pointer, error.to_string(), "give it another name")
    }
}

/// What agents may ask for by default.
const USUAL: [InterruptType; 6] = [
    InterruptType::HumanReview,
    InterruptType::AgentReview,
    InterruptType::Pause,
    InterruptType::Stop,
    InterruptType::Prune,
    InterruptType::Branch,
];

impl CatalogueDraft {
    /// The draft for an enumeration of agents and the record that answers their interrupts.
    ///
    /// # Errors
    ///
    /// [`CatalogueError`] if a name of the enumeration is longer than a store keeps.
    pub fn of<K, R>(name: WorkflowName) -> Result<Self, CatalogueError>
    where
        K: AgentType<Route = R::AgentType>,
        R: InterruptRoutes,
    {
        let route = |name: &str, pointer: String| {
            RouteName::new(name).map_err(|error| CatalogueError::named(pointer, &error))
        };
        let mut kinds = Vec::with_capacity(K::ALL.len());
        for (place, kind) in K::ALL.iter().enumerate() {
            let pointer = format!("/kinds/{place}");
            kinds.push(KindEntry {
                name: KindName::new(kind.name())
                    .map_err(|error| CatalogueError::named(format!("{pointer}/name"), &error))?,
                origin: route(kind.origin_route().name(), format!("{pointer}/origin"))?,
                asks: USUAL.to_vec(),
                request: None,
            });
        }
        let mut routes = Vec::with_capacity(R::ROUTES.len());
        for id in (0..).map_while(RouteId::<R>::from_index) {
            let info = id.info();
            let leads_to = R::agent_type_of(id).name();
            routes.push(RouteEntry {
                name: route(leads_to, format!("/routes/{}/name", id.index()))?,
                field: info.field.to_owned(),
                request: info.request.to_owned(),
                description: info.description.to_owned(),
                schema: R::schemas().plain(id),
            });
        }
        Ok(Self {
            name,
            record: R::NAME.to_owned(),
            kinds,
            routes,
        })
    }

    /// Adds the schema of what a kind asks: that of the field of its own record with which it raises an interrupt.
    /// `plain` is the schema of that record with the field alone.
    #[must_use]
    pub fn asking(mut self, kind: &str, field: &str, plain: Option<Value>) -> Self {
        if let Some(entry) = self.kinds.iter_mut().find(|it| it.name.as_str() == kind) {
            entry.request = plain.map(|plain| request_in(&plain, field));
        }
        self
    }

    /// The catalogue, if it is valid: there are kinds, no two share a name, each one's answers go somewhere, and each
    /// route's schema is that of an object with the route's field.
    ///
    /// # Errors
    ///
    /// [`CatalogueError`] says what is wrong, and what helps.
    pub fn check(self) -> Result<Catalogue, CatalogueError> {
        if self.kinds.is_empty() {
            let none = "there is no kind of agent";
            return Err(CatalogueError::at("/kinds", none, "name at least one"));
        }
        self.check_routes()?;
        self.check_kinds()?;
        let json = serde_json::to_value(&self).map_err(|error| {
            CatalogueError::at("", error.to_string(), "write it as JSON can be written")
        })?;
        let text = canonical_json(&json);
        if text.len() > MOST_BYTES {
            let length = format!("it has {} bytes, and may have {MOST_BYTES}", text.len());
            return Err(CatalogueError::at("", length, "shorten its schemas"));
        }
        Ok(Catalogue {
            digest: Digest::of(text.as_bytes()),
            name: self.name,
            record: self.record,
            kinds: self.kinds,
            routes: self.routes,
        })
    }

    fn check_routes(&self) -> Result<(), CatalogueError> {
        let (mut names, mut fields) = (BTreeSet::new(), BTreeSet::new());
        for (place, route) in self.routes.iter().enumerate() {
            let pointer = format!("/routes/{place}");
            if !names.insert(route.name.as_str()) {
                let twice = format!("there are two routes {}", route.name);
                return Err(CatalogueError::at(
                    format!("{pointer}/name"),
                    twice,
                    "name each route once",
                ));
            }
            if !fields.insert(route.field.as_str()) {
                let twice = format!("there are two routes with the field `{}`", route.field);
                return Err(CatalogueError::at(
                    format!("{pointer}/field"),
                    twice,
                    "give each route a field of its own",
                ));
            }
            if !route.schema["properties"][&route.field].is_object() {
                let lacks = format!("the schema of {} has no such property", route.name);
                return Err(CatalogueError::at(
                    format!("{pointer}/schema/properties/{}", token(&route.field)),
                    lacks,
                    "give the schema of the record with this field alone",
                ));
            }
        }
        Ok(())
    }

    fn check_kinds(&self) -> Result<(), CatalogueError> {
        let mut names = BTreeSet::new();
        for (place, kind) in self.kinds.iter().enumerate() {
            let pointer = format!("/kinds/{place}");
            if !names.insert(kind.name.as_str()) {
                let twice = format!("there are two kinds {}", kind.name);
                return Err(CatalogueError::at(
                    format!("{pointer}/name"),
                    twice,
                    "name each kind once",
                ));
            }
            let is_route = self.routes.iter().any(|route| route.name == kind.origin);
            if !is_route && kind.origin.as_str() != kind.name.as_str() {
                let nowhere = format!("{} is no route", kind.origin);
                return Err(CatalogueError::at(
                    format!("{pointer}/origin"),
                    nowhere,
                    "name one of the routes, or the kind itself if its answers go back to the agent that asks",
                ));
            }
        }
        Ok(())
    }
}

/// A name as a JSON pointer has it.
pub(super) fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

impl TryFrom<CatalogueDraft> for Catalogue {
    type Error = CatalogueError;

    fn try_from(draft: CatalogueDraft) -> Result<Self, CatalogueError> {
        draft.check()
    }
}
