//! What the derive cannot see in a record: whether its schemas and its reader say the same, and whether
//! the providers take what its models are shown.

mod agreement;
mod probe;

#[cfg(debug_assertions)]
use std::any::TypeId;
use std::collections::BTreeSet;
use std::fmt::{self, Debug, Display};
#[cfg(debug_assertions)]
use std::sync::{Mutex, PoisonError};

#[cfg(debug_assertions)]
use probe::Seen;

use super::{AnswerSchema, Dialect, check_limits};
use crate::route::RouteId;
use crate::route_set::RouteSet;
use crate::routing::{Routing, RoutingKind};

/// Something that is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordProblem {
    /// The record's name.
    pub record: &'static str,
    /// The route's field in JSON; `None` if the problem is of several routes together.
    pub route: Option<&'static str>,
    /// Where, as a JSON pointer: into the answer if schema and reader differ, into the schema if it breaks a limit.
    pub pointer: String,
    /// What is wrong.
    pub fault: String,
    /// What helps.
    pub remedy: String,
}

impl Display for RecordProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.record)?;
        if let Some(route) = self.route {
            write!(formatter, ", route `{route}`")?;
        }
        let Self {
            pointer,
            fault,
            remedy,
            ..
        } = self;
        write!(formatter, ", at {pointer}: {fault}; {remedy}")
    }
}

/// All that is wrong with a record; at least one problem.
#[derive(Clone, PartialEq, Eq)]
pub struct RecordProblems(Vec<RecordProblem>);

impl RecordProblems {
    /// The problems, in the order of the routes.
    pub fn problems(&self) -> &[RecordProblem] {
        &self.0
    }

    fn of(problems: Vec<RecordProblem>) -> Result<(), Self> {
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Self(problems))
        }
    }
}

impl Display for RecordProblems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            Display::fmt(problem, formatter)?;
        }
        Ok(())
    }
}

/// Same as `Display`: people read the output of `R::check().unwrap()` in a test.
impl Debug for RecordProblems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, formatter)
    }
}

impl std::error::Error for RecordProblems {}

/// Checks a whole record: [`Routing::check`].
pub(crate) fn check<R: Routing>() -> Result<(), RecordProblems> {
    let mut problems = Vec::new();
    for route in RouteSet::<R>::ALL.iter() {
        problems.extend(agreement::disagreements(route, &mut BTreeSet::new()));
    }
    for dialect in Dialect::ALL {
        for (route, schema) in shown_schemas::<R>(dialect) {
            problems.extend(broken_limits(route, schema));
        }
    }
    RecordProblems::of(problems)
}

/// Checks that the schema of a route allows what its reader takes, and nothing else; once for each type of request and
/// each definition, in whichever records it is used.
#[cfg(debug_assertions)]
pub(super) fn agreement<R: Routing>(route: RouteId<R>) -> Result<(), RecordProblems> {
    static AGREEING: Mutex<(BTreeSet<TypeId>, Seen)> =
        Mutex::new((BTreeSet::new(), BTreeSet::new()));
    let mut agreeing = AGREEING.lock().unwrap_or_else(PoisonError::into_inner);
    let (requests, seen) = &mut *agreeing;
    let request = R::__request_type(route.index());
    if !requests.contains(&request) {
        // What is wrong is said each time.
        RecordProblems::of(agreement::disagreements(route, seen)).inspect_err(|_| seen.clear())?;
        requests.insert(request);
    }
    Ok(())
}

/// Checks that a provider takes a schema that one of its models is about to be shown.
#[cfg(debug_assertions)]
pub(super) fn limits<R: Routing>(schema: &AnswerSchema) -> Result<(), RecordProblems> {
    RecordProblems::of(broken_limits::<R>(None, schema).collect())
}

/// The schemas that models are shown: for a record that answers interrupts, those of its single routes; for an agent's
/// record, the one of all routes, without those that lead back to another caller.
fn shown_schemas<R: Routing>(dialect: Dialect) -> Vec<(Option<RouteId<R>>, &'static AnswerSchema)> {
    let table = R::schemas();
    let narrowed = match R::KIND {
        RoutingKind::Interrupt => RouteSet::<R>::ALL,
        RoutingKind::Agent if RouteSet::<R>::RETURNS.is_empty() => {
            return vec![(None, table.full_unchecked(dialect))];
        }
        RoutingKind::Agent => RouteSet::<R>::RETURNS,
    };
    let schema = |route| match R::KIND {
        RoutingKind::Interrupt => table.narrowed_unchecked(route, dialect),
        RoutingKind::Agent => table.returning_unchecked(route, dialect),
    };
    narrowed
        .iter()
        .map(|route| (Some(route), schema(route)))
        .collect()
}

fn broken_limits<R: Routing>(
    route: Option<RouteId<R>>,
    schema: &AnswerSchema,
) -> impl Iterator<Item = RecordProblem> {
    check_limits(schema)
        .into_iter()
        .map(move |violation| RecordProblem {
            record: R::NAME,
            route: route.map(RouteId::field),
            pointer: violation.path.clone(),
            fault: violation.to_string(),
            remedy: violation.remedy.to_owned(),
        })
}
