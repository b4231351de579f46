//! The schemas of one record, built once.

use std::marker::PhantomData;

use serde_json::Value;

use super::Dialect;
use crate::route::RouteId;
use crate::routing::Routing;

/// A schema that a model's answer must fit, in one dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema {
    name: String,
    dialect: Dialect,
    value: Value,
    text: String,
    has_constraints: bool,
}

impl AnswerSchema {
    /// The name that providers are given: ASCII letters, digits and `_`, at most 64 of them.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dialect it is written in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The schema as a tree.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The schema as compact JSON: the same bytes in every process.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it demands more than types do: lengths, ranges, patterns, formats.
    pub fn has_constraints(&self) -> bool {
        self.has_constraints
    }
}

/// The schemas of the record `R`: the full one, one for each route alone, and one for each caller of
/// a record with return routes; each in every dialect.
#[derive(Debug)]
pub struct SchemaTable<R: Routing> {
    full: [AnswerSchema; 4],
    record: PhantomData<fn() -> R>,
}

impl<R: Routing> SchemaTable<R> {
    /// Generates the schemas. Called once for each record, by generated code.
    #[doc(hidden)]
    pub fn __build() -> Self {
        unimplemented!("schema helper")
    }

    /// The schema of every route: what an agent's own record is shown as.
    pub fn full(&'static self, dialect: Dialect) -> &'static AnswerSchema {
        &self.full[dialect as usize]
    }

    /// The schema that allows one route alone: its property is required and not null.
    pub fn narrowed(&'static self, _route: RouteId<R>, dialect: Dialect) -> &'static AnswerSchema {
        &self.full[dialect as usize]
    }

    /// The schema in which, of the routes that lead back to a caller, only `caller` is left.
    ///
    /// The same as [`SchemaTable::full`] where `caller` is no return route.
    pub fn returning(
        &'static self,
        _caller: RouteId<R>,
        dialect: Dialect,
    ) -> &'static AnswerSchema {
        &self.full[dialect as usize]
    }
}
