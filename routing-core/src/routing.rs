//! Routing records: structs of optional fields of which exactly one is set.

use std::any::{Any, TypeId};
use std::fmt::Debug;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::{DeserializeOwned, Deserializer};

use crate::__private::MadeByDerive;
use crate::agent_type::AgentType;
use crate::answer::AnswerError;
use crate::route::{RouteId, RouteInfo};
use crate::route_set::RouteSet;
use crate::schema::{RecordProblems, SchemaTable};

/// Whether a record answers an interrupt or is what an agent returns of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutingKind {
    /// Each field leads to an agent type, and each agent type has one: the answer to an interrupt.
    Interrupt,
    /// What one agent may return: work, a result, or an interrupt of its own.
    Agent,
}

/// A routing record, made by `#[derive(Routing)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a routing record",
    note = "put `#[derive(Routing)]` on a struct of optional fields; this trait cannot be implemented by hand"
)]
pub trait Routing:
    MadeByDerive
    + Serialize
    + DeserializeOwned
    + JsonSchema
    + Debug
    + Clone
    + Send
    + Sync
    + Sized
    + 'static
{
    /// The record's name.
    const NAME: &'static str;

    /// What the record is for.
    const KIND: RoutingKind;

    /// Its routes, in the order of their fields: at least 1, at most 64.
    const ROUTES: &'static [RouteInfo];

    /// The routes whose fields are set.
    fn set_routes(&self) -> RouteSet<Self>;

    /// The schemas of this record, built at their first use.
    fn schemas() -> &'static SchemaTable<Self>;

    /// Takes out the one set field: which it is, and its request, of the route's request type.
    ///
    /// # Errors
    ///
    /// [`OneRouteError`] if no field is set, or more than one.
    fn into_one(self) -> Result<(RouteId<Self>, Box<dyn Any + Send>), OneRouteError> {
        let set = self.set_routes();
        set.single()
            .and_then(|route| {
                let request = self.__into_request(route.index())?;
                Some((route, request))
            })
            .ok_or_else(|| OneRouteError::__new(set))
    }

    /// Checks what the derive cannot see: that the schemas of this record allow what its reader takes and
    /// nothing else, and that every provider takes what its models are shown.
    ///
    /// For a test of yours: `Record::check().unwrap()`. The schemas are tried with answers that they allow and
    /// with others that they forbid, one for each place and way to differ; nothing is random. A debug build does
    /// the same for a route when its schema is first used, and panics; a release build does nothing of it.
    ///
    /// # Errors
    ///
    /// [`RecordProblems`]: what is wrong, where, and what helps.
    fn check() -> Result<(), RecordProblems> {
        crate::schema::check::<Self>()
    }

    /// Reads the request of the field at `index`; `None` if the input is null.
    #[doc(hidden)]
    fn __deserialize_field<'de, D: Deserializer<'de>>(
        index: usize,
        deserializer: D,
    ) -> Result<Option<Self>, D::Error>;

    /// Reads an answer that may hold the route at `index` alone, through [`crate::Narrowed`].
    #[doc(hidden)]
    fn __parse_narrowed(index: usize, answer: &[u8]) -> Result<Self, AnswerError>;

    /// The type of the request of the field at `index`.
    #[doc(hidden)]
    fn __request_type(index: usize) -> TypeId;

    /// The record with a copy of this request in the field at `index`; `None` if it is of another type.
    #[doc(hidden)]
    fn __from_request(index: usize, request: &dyn Any) -> Option<Self>;

    /// The request of the field at `index`; `None` if it is not set.
    #[doc(hidden)]
    fn __into_request(self, index: usize) -> Option<Box<dyn Any + Send>>;

    /// The schema of the request of the field at `index`, without null.
    #[doc(hidden)]
    fn __request_schema(index: usize, generator: &mut SchemaGenerator) -> Schema;

    /// The doc comment of the record.
    #[doc(hidden)]
    fn __description() -> &'static str;
}

/// A record whose every field leads to an agent type, and every agent type has its field.
///
/// Made by `#[derive(Routing)]` with `#[routing(agent_types = ...)]`.
pub trait InterruptRoutes: Routing {
    /// Where its routes lead.
    type AgentType: AgentType<Route = Self::AgentType>;

    /// The route that leads to an agent type. Total: a type without a route does not compile.
    fn route_to(agent_type: Self::AgentType) -> RouteId<Self>;

    /// Where a route leads.
    fn agent_type_of(route: RouteId<Self>) -> Self::AgentType;
}

/// A record in which no field is set, or more than one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OneRouteError {
    /// Nothing is set: there is nowhere to go.
    #[error("no field of `{record}` is set; set exactly one of: {}", known.join(", "))]
    NoneSet {
        /// The record's name.
        record: &'static str,
        /// The fields that it has, by their names in JSON.
        known: Vec<&'static str>,
    },
    /// More than one is set, and none wins over the others.
    #[error("{} fields of `{record}` are set, {}; set exactly one", fields.len(), fields.join(", "))]
    ManySet {
        /// The record's name.
        record: &'static str,
        /// The fields that are set, by their names in JSON.
        fields: Vec<&'static str>,
    },
}

impl OneRouteError {
    /// For generated code only: what is wrong with a set that is not of one route.
    #[doc(hidden)]
    pub fn __new<R: Routing>(set: RouteSet<R>) -> Self {
        if set.is_empty() {
            Self::NoneSet {
                record: R::NAME,
                known: RouteSet::<R>::ALL.fields(),
            }
        } else {
            Self::ManySet {
                record: R::NAME,
                fields: set.fields(),
            }
        }
    }
}

/// Why a routing could not be dispatched, or what its action failed with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DispatchError<E> {
    /// None or more than one field is set; no action was called.
    #[error(transparent)]
    Route(#[from] OneRouteError),
    /// No action of a planner takes the request.
    #[error("`{record}.{field}` is set and no action takes `{request}`; there are: {}", known.join(", "))]
    NoAction {
        /// The record's name.
        record: &'static str,
        /// The field that is set.
        field: &'static str,
        /// The type of its request.
        request: &'static str,
        /// The actions that there are, by name.
        known: Vec<&'static str>,
    },
    /// The action that took the request failed.
    #[error("the action `{action}` failed")]
    Action {
        /// Its name, or that of the field.
        action: &'static str,
        /// Why.
        #[source]
        source: E,
    },
}
