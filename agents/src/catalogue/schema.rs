//! The schema of a record, exactly as a model gets it.

use std::sync::OnceLock;

use interrupt_router::ask::choice_schema;
use interrupt_router::context::{
    Decorator as _, FilterPropertiesDecorator, LlmCallContext, RouteSnapshot, Selection,
};
use interrupt_router::handler::ReviewDecision;
use interrupt_router::model::{ModelCaller, Purpose};
use interrupt_router::schema::{AnswerSchema, Dialect};
use interrupt_router::{AgentType, NodeId, RouteId, Routing, RoutingKind, RunId};

use serde_json::Value;

use super::records;
use crate::agent_kind::{AgentKind, RouteType};

/// In which situation the model is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaQuery {
    /// Who raised the interrupt. For records that answer interrupts.
    pub origin: Option<AgentKind>,
    /// Where the bound event sends the interrupt; takes precedence over the origin. For records that answer interrupts.
    pub reroute_to: Option<RouteType>,
    /// Who called the agent. For records with routes back to the caller.
    pub caller: Option<RouteType>,
    /// In which dialect the model takes schemas.
    pub dialect: Dialect,
}

impl SchemaQuery {
    /// The record as it is before anything narrows it.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            origin: None,
            reroute_to: None,
            caller: None,
            dialect,
        }
    }
}

/// Why there is no schema to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// No record has this name.
    #[error("unknown record `{given}`; known are: {}", known.join(", "))]
    UnknownRecord {
        /// What was given.
        given: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// The record does not answer interrupts, so neither an origin nor an event changes it.
    #[error("`{record}` does not answer interrupts: neither an origin nor a reroute changes it")]
    NoInterruptAnswer {
        /// The record.
        record: &'static str,
    },
    /// The record has no routes to choose from.
    #[error("`{record}` has no routes to choose from: it is asked in one step")]
    NoRoutes {
        /// The record.
        record: &'static str,
    },
    /// The record has no route back to this caller.
    #[error(
        "`{record}` has no route back to {caller}; callers are: {}",
        or_nobody(known)
    )]
    NoReturnRoute {
        /// The record.
        record: &'static str,
        /// The given caller.
        caller: RouteType,
        /// The possible callers.
        known: Vec<&'static str>,
    },
}

fn or_nobody(known: &[&str]) -> String {
    if known.is_empty() {
        "nobody".to_owned()
    } else {
        known.join(", ")
    }
}

/// The schema of the record of this name, exactly as a model gets it in this situation.
///
/// # Errors
///
/// [`SchemaError`] if there is no such record, or the situation means nothing to it.
pub fn schema(record: &str, query: &SchemaQuery) -> Result<&'static AnswerSchema, SchemaError> {
    let info = records().iter().find(|info| info.name == record);
    match info {
        Some(info) => (info.schema)(query),
        None => Err(SchemaError::UnknownRecord {
            given: record.to_owned(),
            known: records().iter().map(|info| info.name).collect(),
        }),
    }
}

/// The schemas of a turn in two steps.
#[derive(Debug, Clone)]
pub struct TwoSteps {
    /// Of the first step: which route.
    pub choice: AnswerSchema,
    /// Of the second step, for each route that may be named.
    pub requests: Vec<(&'static str, &'static AnswerSchema)>,
}

/// The schemas with which a turn of the record of this name is asked in two steps.
///
/// # Errors
///
/// [`SchemaError`] if there is no such record, it has no routes to choose from, or the situation means nothing to it.
pub fn two_steps(record: &str, query: &SchemaQuery) -> Result<TwoSteps, SchemaError> {
    let info = records().iter().find(|info| info.name == record);
    match info.map(|info| info.two_steps) {
        Some(Some(steps)) => steps(query),
        Some(None) => Err(SchemaError::NoRoutes {
            record: info.map_or("", |info| info.name),
        }),
        None => Err(SchemaError::UnknownRecord {
            given: record.to_owned(),
            known: records().iter().map(|info| info.name).collect(),
        }),
    }
}

/// The schemas of a routing record's turn in two steps.
pub(super) fn steps_of<R: Routing>(query: &SchemaQuery) -> Result<TwoSteps, SchemaError> {
    let routes = decorated::<R>(query)?.selection.routes();
    Ok(TwoSteps {
        choice: choice_schema(routes, query.dialect),
        requests: routes
            .iter()
            .map(|route| {
                let schema = Selection::Only(route).schema(query.dialect);
                (route.field(), schema)
            })
            .collect(),
    })
}

/// The plain schema of a routing record with a field alone.
pub(super) fn plain_of<R: Routing>(field: &str) -> Option<Value> {
    RouteId::<R>::from_field(field).map(|route| R::schemas().plain(route))
}

/// The schema of a routing record, after the decorators that every call goes through.
pub(super) fn of_routing<R: Routing>(
    query: &SchemaQuery,
) -> Result<&'static AnswerSchema, SchemaError> {
    Ok(decorated::<R>(query)?.selection.schema(query.dialect))
}

/// The context of a call after the decorators.
fn decorated<R: Routing>(query: &SchemaQuery) -> Result<LlmCallContext<R>, SchemaError> {
    let snapshot = RouteSnapshot {
        decided: None,
        reroute: interrupt_route(query.reroute_to)?,
        origin: interrupt_route(query.origin.map(AgentType::origin_route))?,
        caller: query.caller.map(return_route::<R>).transpose()?,
    };
    let caller = ModelCaller {
        run: RunId::generate(),
        node: NodeId::root(),
        agent_type: query.origin.map_or(R::NAME, AgentType::name),
        purpose: match R::KIND {
            RoutingKind::Interrupt => Purpose::Resolution,
            RoutingKind::Agent => Purpose::Step,
        },
        turn: 1,
        correction: 0,
    };
    let context = LlmCallContext::<R>::new(caller, Vec::new(), snapshot);
    Ok(FilterPropertiesDecorator.decorate(context))
}

fn interrupt_route<R: Routing>(
    target: Option<RouteType>,
) -> Result<Option<RouteId<R>>, SchemaError> {
    match target {
        None => Ok(None),
        Some(target) if R::KIND == RoutingKind::Interrupt => {
            Ok(RouteId::from_agent_type(target.name()))
        }
        Some(_) => Err(SchemaError::NoInterruptAnswer { record: R::NAME }),
    }
}

fn return_route<R: Routing>(caller: RouteType) -> Result<RouteId<R>, SchemaError> {
    RouteId::<R>::from_agent_type(caller.name())
        .filter(|route| route.info().returns)
        .ok_or_else(|| SchemaError::NoReturnRoute {
            record: R::NAME,
            caller,
            known: R::ROUTES
                .iter()
                .filter(|route| route.returns)
                .filter_map(|route| route.agent_type)
                .collect(),
        })
}

/// The schema of a record that routes nothing.
pub(super) fn of_review_decision(
    query: &SchemaQuery,
) -> Result<&'static AnswerSchema, SchemaError> {
    static ROW: [OnceLock<AnswerSchema>; Dialect::ALL.len()] =
        [const { OnceLock::new() }; Dialect::ALL.len()];
    const NAME: &str = "ReviewDecision";
    if query.origin.is_some() || query.reroute_to.is_some() {
        return Err(SchemaError::NoInterruptAnswer { record: NAME });
    }
    if let Some(caller) = query.caller {
        return Err(SchemaError::NoReturnRoute {
            record: NAME,
            caller,
            known: Vec::new(),
        });
    }
    Ok(ROW[query.dialect as usize]
        .get_or_init(|| AnswerSchema::from_type::<ReviewDecision>(NAME, query.dialect)))
}
