//! Every record that goes to a model, by name: its schema as a model gets it, and where it leads.
//!
//! For code that does not know the types: command lines, documents, tests over all of them.

mod graph;
mod registered;
mod schema;
mod vocabulary;

pub use graph::{Edge, EdgeEnd, edges, mermaid};
pub use registered::{built_in, of_workflow};
pub use schema::{SchemaError, SchemaQuery, TwoSteps, schema, two_steps};
pub use vocabulary::script_vocabulary;

use interrupt_router::schema::AnswerSchema;
use interrupt_router::{InterruptRoutes, RouteId, RouteInfo, Routing};
use serde_json::Value;

use crate::agent_kind::{AgentKind, RouteLevel, RouteType};
use crate::records::{
    ContextManagerResultRouting, DiscoveryAgentRouting, DiscoveryCollectorRouting,
    DiscoveryDispatchRouting, DiscoveryOrchestratorRouting, InterruptRouting, MergerRouting,
    OrchestratorCollectorRouting, OrchestratorRouting, Phase, PlanningAgentRouting,
    PlanningCollectorRouting, PlanningDispatchRouting, PlanningOrchestratorRouting, ReviewRouting,
    TicketAgentRouting, TicketCollectorRouting, TicketDispatchRouting, TicketOrchestratorRouting,
    full_name,
};

/// What a record is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// Says where to go after an interrupt.
    InterruptAnswer,
    /// Says where the agent of this kind goes next.
    AgentAnswer(AgentKind),
    /// Decides an interrupt in place of a person. It routes nothing.
    ReviewDecision,
}

/// The plain schema of the record with a field alone.
type PlainOf = fn(&str) -> Option<Value>;

/// Makes the two steps of a record's turn.
type TwoStepsOf = fn(&SchemaQuery) -> Result<TwoSteps, SchemaError>;

/// A record that goes to a model.
#[derive(Debug, Clone, Copy)]
pub struct RecordInfo {
    /// The record's name.
    pub name: &'static str,
    /// What it is for.
    pub kind: RecordKind,
    /// Its routes, in the order of their fields; none if it routes nothing.
    pub routes: &'static [RouteInfo],
    schema: fn(&SchemaQuery) -> Result<&'static AnswerSchema, SchemaError>,
    /// The plain schema of the request in a field, if the record has routes.
    plain: Option<PlainOf>,
    /// Its turn in two steps, if it has routes to choose from.
    two_steps: Option<TwoStepsOf>,
}

impl RecordInfo {
    const fn routing<R: Routing>(kind: RecordKind) -> Self {
        Self {
            name: R::NAME,
            kind,
            routes: R::ROUTES,
            schema: schema::of_routing::<R>,
            plain: Some(schema::plain_of::<R>),
            two_steps: Some(schema::steps_of::<R>),
        }
    }

    const fn agent<R: Routing>(kind: AgentKind) -> Self {
        Self::routing::<R>(RecordKind::AgentAnswer(kind))
    }

    /// The routes that lead back to the caller.
    pub fn returns(&self) -> impl Iterator<Item = &'static RouteInfo> {
        self.routes.iter().filter(|route| route.returns)
    }
}

static RECORDS: [RecordInfo; 19] = [
    RecordInfo::routing::<InterruptRouting>(RecordKind::InterruptAnswer),
    RecordInfo::agent::<OrchestratorRouting>(AgentKind::Orchestrator),
    RecordInfo::agent::<DiscoveryOrchestratorRouting>(AgentKind::DiscoveryOrchestrator),
    RecordInfo::agent::<DiscoveryDispatchRouting>(AgentKind::DiscoveryDispatch),
    RecordInfo::agent::<DiscoveryAgentRouting>(AgentKind::DiscoveryAgent),
    RecordInfo::agent::<DiscoveryCollectorRouting>(AgentKind::DiscoveryCollector),
    RecordInfo::agent::<PlanningOrchestratorRouting>(AgentKind::PlanningOrchestrator),
    RecordInfo::agent::<PlanningDispatchRouting>(AgentKind::PlanningDispatch),
    RecordInfo::agent::<PlanningAgentRouting>(AgentKind::PlanningAgent),
    RecordInfo::agent::<PlanningCollectorRouting>(AgentKind::PlanningCollector),
    RecordInfo::agent::<TicketOrchestratorRouting>(AgentKind::TicketOrchestrator),
    RecordInfo::agent::<TicketDispatchRouting>(AgentKind::TicketDispatch),
    RecordInfo::agent::<TicketAgentRouting>(AgentKind::TicketAgent),
    RecordInfo::agent::<TicketCollectorRouting>(AgentKind::TicketCollector),
    RecordInfo::agent::<OrchestratorCollectorRouting>(AgentKind::OrchestratorCollector),
    RecordInfo::agent::<ReviewRouting>(AgentKind::ReviewAgent),
    RecordInfo::agent::<MergerRouting>(AgentKind::MergerAgent),
    RecordInfo::agent::<ContextManagerResultRouting>(AgentKind::ContextManager),
    RecordInfo {
        name: "ReviewDecision",
        kind: RecordKind::ReviewDecision,
        routes: &[],
        schema: schema::of_review_decision,
        plain: None,
        two_steps: None,
    },
];

/// Every record that goes to a model: [`InterruptRouting`] first.
pub fn records() -> &'static [RecordInfo] {
    &RECORDS
}

/// One of the fourteen places where an interrupt may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteRow {
    /// The field of [`InterruptRouting`], by its name in JSON.
    pub field: &'static str,
    /// Where it leads.
    pub agent_type: RouteType,
    /// The route's marker.
    pub marker: &'static str,
    /// The request as a model fills it.
    pub request: &'static str,
    /// The request as the node gets it, and as it is the node's last one.
    pub last_request: &'static str,
    /// The node's level.
    pub level: RouteLevel,
    /// The phase that the node belongs to, if it belongs to one alone.
    pub phase: Option<Phase>,
}

/// The fourteen routes, in the order of their fields.
pub fn routes() -> Vec<RouteRow> {
    (0..)
        .map_while(RouteId::<InterruptRouting>::from_index)
        .map(|route| {
            let info = route.info();
            let agent_type = InterruptRouting::agent_type_of(route);
            RouteRow {
                field: info.field,
                agent_type,
                marker: info.marker,
                request: info.request,
                last_request: full_name(info.request),
                level: agent_type.level(),
                phase: agent_type.phase(),
            }
        })
        .collect()
}
