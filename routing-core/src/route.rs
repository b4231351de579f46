//! One way out of a routing record: its marker type, its request, and its place in the record.

use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use crate::__private::{MadeByDerive, Request};
use crate::model::Dialect;
use crate::routing::Routing;
use crate::schema::AnswerSchema;

/// The marker of one route, made by `#[derive(Routing)]`: a type without size that represents a field.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the marker of a route",
    note = "markers are made by `#[derive(Routing)]`; this trait cannot be implemented by hand"
)]
pub trait Route: MadeByDerive + Copy + Default + Debug + Eq + Hash + Send + Sync + 'static {
    /// The record that has this route.
    type Routing: Routing;

    /// What the route carries: any type that can be read, written and described to a model, so one with the derives
    /// `Debug, Clone, Serialize, Deserialize, JsonSchema`.
    type Request: Request;

    /// The name of this marker.
    const NAME: &'static str;

    /// The field's name in JSON.
    const FIELD: &'static str;

    /// The field's place in the record, from 0.
    const INDEX: usize;

    /// Puts a request into the record, all other fields unset.
    fn wrap(request: Self::Request) -> Self::Routing;

    /// Takes this route's request out of the record, if it is set.
    fn take(routing: Self::Routing) -> Option<Self::Request>;

    /// The identity of this route as a value.
    fn id() -> RouteId<Self::Routing> {
        RouteId::of::<Self>()
    }

    /// The schema that allows this route alone. A table look-up; the table is built at its first use.
    fn schema(dialect: Dialect) -> &'static AnswerSchema {
        Self::Routing::schemas().narrowed(Self::id(), dialect)
    }
}

/// What is known of a route without its types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteInfo {
    /// The field's name in JSON.
    pub field: &'static str,
    /// The field's name in Rust.
    pub rust_field: &'static str,
    /// The marker's name.
    pub marker: &'static str,
    /// The request's type, as written in the record.
    pub request: &'static str,
    /// The name of the agent type that the route leads to, if it leads to one.
    pub agent_type: Option<&'static str>,
    /// The field's doc comment: what a model reads about this route. Empty if there is none.
    pub description: &'static str,
    /// Whether this route leads back to the caller of the agent (`#[route(returns)]`).
    pub returns: bool,
}

impl RouteInfo {
    /// For generated code only.
    #[doc(hidden)]
    pub const fn __new(
        names: [&'static str; 4],
        agent_type: Option<&'static str>,
        description: &'static str,
        returns: bool,
    ) -> Self {
        let [field, rust_field, marker, request] = names;
        Self {
            field,
            rust_field,
            marker,
            request,
            agent_type,
            description,
            returns,
        }
    }
}

/// A route of the record `R`, known at run time.
pub struct RouteId<R: Routing> {
    index: u8,
    record: PhantomData<fn() -> R>,
}

impl<R: Routing> RouteId<R> {
    /// The route of a marker.
    pub fn of<M: Route<Routing = R>>() -> Self {
        Self::from_index_unchecked(M::INDEX)
    }

    /// The route at this place of the record, or `None` past its end.
    pub fn from_index(index: usize) -> Option<Self> {
        (index < R::ROUTES.len()).then(|| Self::from_index_unchecked(index))
    }

    /// The route with this name in JSON.
    pub fn from_field(field: &str) -> Option<Self> {
        R::ROUTES
            .iter()
            .position(|route| route.field == field)
            .map(Self::from_index_unchecked)
    }

    /// The route that leads to the agent type of this name.
    pub fn from_agent_type(name: &str) -> Option<Self> {
        R::ROUTES
            .iter()
            .position(|route| route.agent_type == Some(name))
            .map(Self::from_index_unchecked)
    }

    /// For generated code only: the route at a place that is one of the record.
    #[doc(hidden)]
    pub const fn __at(index: usize) -> Self {
        Self::from_index_unchecked(index)
    }

    // A record has at most 64 routes, which the derive checks.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a record has at most 64 routes"
    )]
    pub(crate) const fn from_index_unchecked(index: usize) -> Self {
        Self {
            index: index as u8,
            record: PhantomData,
        }
    }

    /// The place in the record, from 0.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// What is known of it.
    pub fn info(self) -> &'static RouteInfo {
        &R::ROUTES[self.index()]
    }

    /// The field's name in JSON.
    pub fn field(self) -> &'static str {
        self.info().field
    }
}

impl<R: Routing> Clone for RouteId<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Routing> Copy for RouteId<R> {}

impl<R: Routing> PartialEq for RouteId<R> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<R: Routing> Eq for RouteId<R> {}

impl<R: Routing> Hash for RouteId<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}

impl<R: Routing> Debug for RouteId<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}::{}", R::NAME, self.field())
    }
}
