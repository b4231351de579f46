//! The schemas of one record, built once.

use std::marker::PhantomData;
use std::sync::OnceLock;
#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicU64, Ordering};
#[cfg(debug_assertions)]
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

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
    full: DialectRow,
    narrowed: Box<[DialectRow]>,
    /// A row for each route that leads back to a caller; the others' stay empty.
    returning: Box<[DialectRow]>,
    /// The routes whose schemas are known to say what their readers do.
    #[cfg(debug_assertions)]
    agreeing: AtomicU64,
    /// The schemas that their providers are known to take.
    #[cfg(debug_assertions)]
    taken: Mutex<Vec<&'static AnswerSchema>>,
    record: PhantomData<fn() -> R>,
}

/// One schema in each dialect.
#[derive(Debug, Default)]
struct DialectRow([OnceLock<AnswerSchema>; Dialect::ALL.len()]);

impl DialectRow {
    #[inline]
    fn get(&self, dialect: Dialect, source: impl FnOnce() -> Source) -> &AnswerSchema {
        self.0[dialect as usize].get_or_init(|| AnswerSchema::render(source(), dialect))
    }
}

impl<R: Routing> SchemaTable<R> {
    /// An empty table. Called once for each record, by generated code.
    #[doc(hidden)]
    pub fn __build() -> Self {
        let rows = || {
            R::ROUTES
                .iter()
                .map(|_route| DialectRow::default())
                .collect()
        };
        Self {
            full: DialectRow::default(),
            narrowed: rows(),
            returning: rows(),
            #[cfg(debug_assertions)]
            agreeing: AtomicU64::new(0),
            #[cfg(debug_assertions)]
            taken: Mutex::default(),
            record: PhantomData,
        }
    }

    /// The schema of every route: what an agent's own record is shown as.
    #[inline]
    pub fn full(&'static self, dialect: Dialect) -> &'static AnswerSchema {
        self.promise(RouteSet::ALL);
        self.full_unchecked(dialect)
    }

    /// For the reader and its check, which together verify the agreement.
    pub(crate) fn full_unchecked(&'static self, dialect: Dialect) -> &'static AnswerSchema {
        self.full
            .get(dialect, || source::of_routes(R::NAME, RouteSet::<R>::ALL))
    }

    /// The schema that allows one route alone: its property is required and not null.
    #[inline]
    pub fn narrowed(&'static self, route: RouteId<R>, dialect: Dialect) -> &'static AnswerSchema {
        self.promise(RouteSet::only(route));
        self.narrowed_unchecked(route, dialect)
    }

    /// The schema that allows one route alone, as plain JSON Schema: for code that lists the routes. It is made anew,
    /// and nothing of it is checked.
    pub fn plain(&self, route: RouteId<R>) -> Value {
        source::of_route(route).plain
    }

    /// For the reader and its check, which together verify the agreement.
    #[inline]
    pub(crate) fn narrowed_unchecked(
        &'static self,
        route: RouteId<R>,
        dialect: Dialect,
    ) -> &'static AnswerSchema {
        self.narrowed[route.index()].get(dialect, || source::of_route(route))
    }

    /// The schema in which, of the routes that lead back to a caller, only `caller` is left.
    ///
    /// The same as [`SchemaTable::full`] if `caller` is no return route.
    #[inline]
    pub fn returning(&'static self, caller: RouteId<R>, dialect: Dialect) -> &'static AnswerSchema {
        self.promise(RouteSet::ALL);
        self.returning_unchecked(caller, dialect)
    }

    pub(crate) fn returning_unchecked(
        &'static self,
        caller: RouteId<R>,
        dialect: Dialect,
    ) -> &'static AnswerSchema {
        if !RouteSet::<R>::RETURNS.contains(caller) {
            return self.full_unchecked(dialect);
        }
        self.returning[caller.index()].get(dialect, || {
            let routes = RouteSet::RETURNS.complement().union(RouteSet::only(caller));
            source::of_routes(&format!("{}_for_{}", R::NAME, caller.field()), routes)
        })
    }

    /// In a debug build, checks at the first use of a route that its schema says what its reader does, and
    /// panics with what is wrong; otherwise nothing.
    #[cfg(debug_assertions)]
    fn promise(&self, routes: RouteSet<R>) {
        for route in routes.iter() {
            let bit = 1 << route.index();
            if self.agreeing.load(Ordering::Relaxed) & bit == 0 {
                if let Err(problems) = super::check::agreement(route) {
                    panic!("schema and reader differ\n{problems}");
                }
                self.agreeing.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// In a debug build, panics if the provider does not take a schema that its model is to be shown.
    #[cfg(debug_assertions)]
    pub(crate) fn assert_taken(&self, schema: &'static AnswerSchema) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.iter().any(|known| std::ptr::eq(*known, schema)) {
            return;
        }
        match super::check::limits::<R>(schema) {
            Ok(()) => taken.push(schema),
            Err(problems) => panic!("a provider does not take this schema\n{problems}"),
        }
    }

    /// In a release build nothing is checked.
    #[cfg(not(debug_assertions))]
    #[inline]
    fn promise(&self, _routes: RouteSet<R>) {}

    /// In a release build nothing is checked.
    #[cfg(not(debug_assertions))]
    #[inline]
    pub(crate) fn assert_taken(&self, _schema: &'static AnswerSchema) {}
}
