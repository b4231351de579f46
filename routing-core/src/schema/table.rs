//! The schemas of one record, built once.

use std::marker::PhantomData;
use std::sync::OnceLock;

use super::source::{self, Source};
use super::{AnswerSchema, Dialect};
use crate::route::RouteId;
use crate::route_set::RouteSet;
use crate::routing::Routing;

/// The schemas of the record `R`: the full one, one for each route alone, and one for each caller of
/// a record with return routes; each in every dialect.
///
/// Each is generated when it is first asked for; from then on looking it up reads a table, and
/// allocates nothing.
#[derive(Debug)]
pub struct SchemaTable<R: Routing> {
    full: Row,
    narrowed: Box<[Row]>,
    /// A row for each route that leads back to a caller; the others' stay empty.
    returning: Box<[Row]>,
    record: PhantomData<fn() -> R>,
}

/// One schema in each dialect.
#[derive(Debug, Default)]
struct Row([OnceLock<AnswerSchema>; 4]);

impl Row {
    #[inline]
    fn get(&self, dialect: Dialect, source: impl FnOnce() -> Source) -> &AnswerSchema {
        self.0[dialect as usize].get_or_init(|| AnswerSchema::render(source(), dialect))
    }
}

impl<R: Routing> SchemaTable<R> {
    /// An empty table. Called once for each record, by generated code.
    #[doc(hidden)]
    pub fn __build() -> Self {
        let rows = || R::ROUTES.iter().map(|_route| Row::default()).collect();
        Self {
            full: Row::default(),
            narrowed: rows(),
            returning: rows(),
            record: PhantomData,
        }
    }

    /// The schema of every route: what an agent's own record is shown as.
    #[inline]
    pub fn full(&'static self, dialect: Dialect) -> &'static AnswerSchema {
        self.full
            .get(dialect, || source::of_routes(R::NAME, RouteSet::<R>::ALL))
    }

    /// The schema that allows one route alone: its property is required and not null.
    #[inline]
    pub fn narrowed(&'static self, route: RouteId<R>, dialect: Dialect) -> &'static AnswerSchema {
        self.narrowed[route.index()].get(dialect, || source::of_route(route))
    }

    /// The schema in which, of the routes that lead back to a caller, only `caller` is left.
    ///
    /// The same as [`SchemaTable::full`] where `caller` is no return route.
    #[inline]
    pub fn returning(&'static self, caller: RouteId<R>, dialect: Dialect) -> &'static AnswerSchema {
        if !RouteSet::<R>::RETURNS.contains(caller) {
            return self.full(dialect);
        }
        self.returning[caller.index()].get(dialect, || {
            let routes = RouteSet::RETURNS.complement().union(RouteSet::only(caller));
            source::of_routes(&format!("{}_for_{}", R::NAME, caller.field()), routes)
        })
    }
}
