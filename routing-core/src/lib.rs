//! Typed interrupt routing for multi-agent language-model orchestrators: agents interrupt, one handler decides, and the
//! work goes on along exactly one route.
//!
//! ```text
//! supervisor ──publish──► EventBus ──► stored, and bound to the agent's next interrupt
//!                                              │
//! agent ──InterruptRequest──► UnifiedInterruptHandler ──asks──► a person or a model
//!                                              │ the decision fixes the target
//!         FilterPropertiesDecorator: a schema with one route ──► a model fills its request
//!                                              │ read strictly, corrected a few times
//! action ◄──BlackboardRoutingPlanner◄── InterruptRouting, one field set
//! ```
//!
//! # Who: an enumeration of agents
//!
//! [`derive@AgentType`]: their names on the wire, and the route to which each one's interrupts come back.
//!
//! # What they ask: a sealed enumeration of interrupts
//!
//! [`derive@InterruptRequest`]: one variant for each agent. A kind without a variant does not compile.
//!
//! # Where they may go: a record with one optional field for each route
//!
//! [`derive@Routing`] makes a marker type for each field, the sets of them, the schemas that models are shown, and the strict
//! reading of what they answer. A value [narrowed](Narrowed) to one route cannot hold another: that is a type, not a check.
//!
//! # Handling: one way for all of them
//!
//! [`handler::UnifiedInterruptHandler`] needs a [model](model::LanguageModel) and a [reviewer](review::Reviewer). It asks, fixes
//! the target, [narrows](context::FilterPropertiesDecorator) the schema to it, lets the model fill in that one request, and asks
//! a person if it cannot. Handled again, an interrupt has the same resolution, and no one is asked twice. The derived `dispatch`
//! of a record calls the action of its one set field; [`planner::BlackboardRoutingPlanner`] does so for actions that are
//! registered at run time.
//!
//! # Supervisors: events that send an answer elsewhere
//!
//! An [event](event::InterruptRequestEvent) is [published](bus::EventBus::publish) to a running agent. It is stored before
//! the agent learns of it, bound to the interrupt that answers it, and consumed with the decision, once.
//! [`memory::InMemoryRouter`] keeps it in one process; a store of your own implements [`handler::Decisions`].
//!
//! # All of it
//!
//! ```
//! use interrupt_router::prelude::*;
//! # use schemars::JsonSchema;
//! # use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
//! enum AgentKind {
//!     Discovery,
//!     Planning,
//! }
//!
//! #[derive(Debug, Clone, InterruptRequest)]
//! #[interrupt(kind = AgentKind)]
//! enum Interrupt {
//!     Discovery(InterruptDetails),
//!     Planning(InterruptDetails),
//! }
//!
//! #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
//! struct Goal {
//!     goal: String,
//! }
//!
//! #[derive(Debug, Clone, Routing)]
//! #[routing(agent_types = AgentKind)]
//! struct InterruptRouting {
//!     #[route(marker = DiscoveryRoute, agent_type = Discovery)]
//!     discovery_request: Option<Goal>,
//!     #[route(marker = PlanningRoute, agent_type = Planning)]
//!     planning_request: Option<Goal>,
//! }
//!
//! # struct Model;
//! # #[async_trait]
//! # impl LanguageModel for Model {
//! #     fn name(&self) -> &str { "model" }
//! #     fn dialect(&self) -> Dialect { Dialect::JsonSchema }
//! #     async fn call(&self, call: ModelCall, _: &StopScope) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
//! #         assert!(!call.schema_text().contains("planningRequest"));
//! #         let text = r#"{"discoveryRequest": {"goal": "look again"}}"#.to_owned();
//! #         Ok(Outcome::Completed(ModelReply { text, ..ModelReply::default() }))
//! #     }
//! # }
//! # struct Person;
//! # #[async_trait]
//! # impl Reviewer for Person {
//! #     async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
//! #         Ok(Outcome::Completed(Answer { text: Some("look again".into()), ..Answer::default() }))
//! #     }
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let handler = UnifiedInterruptHandler::<Interrupt, InterruptRouting>::new(Model, Person);
//! let raised = Interrupt::Discovery(InterruptDetails::new(
//!     InterruptType::HumanReview,
//!     "two sources disagree",
//! ));
//! let context = OperationContext {
//!     interrupt: InterruptId::generate(),
//!     run: RunId::generate(),
//!     node: &NodeId::new("discovery")?,
//!     turn: 1,
//!     blackboard: &Blackboard::new(),
//!     conversation: &[],
//!     scope: &StopScope::new(),
//! };
//! // The model saw the one route, and could answer along no other.
//! let outcome = handler.handle_unified_interrupt(raised, context).await?;
//! let Some(Resolution::Routed(routed)) = outcome.completed() else {
//!     panic!("a person answered")
//! };
//! assert_eq!(routed.routing.discovery_request.unwrap().goal, "look again");
//! # Ok(())
//! # }
//! ```
//!
//! `examples/fourteen.rs` is this with fourteen agents, a supervisor and a planner; `examples/own_record.rs` needs no model and no
//! clock. Both compile with this crate alone.

#[cfg(test)]
extern crate self as interrupt_router;

mod agent_type;
pub mod answer;
mod answer_form;
pub mod ask;
mod blackboard;
pub mod bus;
pub mod context;
pub mod event;
pub mod handler;
mod ids;
mod interrupt;
pub mod memory;
pub mod model;
mod narrowed;
mod outcome;
pub mod planner;
pub mod reroute;
pub mod review;
mod route;
mod route_set;
mod routing;
pub mod schema;
mod stop;
mod verdict;

pub use agent_type::{AgentType, UnknownAgentType};
pub use answer_form::AnswerForm;
pub use blackboard::{Blackboard, Entry};
pub use ids::{DecisionId, EventId, InterruptId, NodeId, ParseIdError, RuleId, RunId};
pub use interrupt::{
    AgentInterrupt, Choice, ConfirmationItem, InterruptDetails, InterruptType, SealedInterrupt,
};
pub use narrowed::Narrowed;
pub use outcome::Outcome;
pub use route::{Route, RouteId, RouteInfo};
pub use route_set::RouteSet;
pub use routing::{DispatchError, InterruptRoutes, OneRouteError, Routing, RoutingKind};
pub use stop::{StopMode, StopReason, StopScope, StopSource};
pub use verdict::{DecidedAs, Verdict};

/// Derives [`trait@AgentType`] for an enumeration of agents: a variant for each.
///
/// ```
/// use interrupt_router::AgentType;
///
/// /// Where an interrupt may go.
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
/// enum RouteType {
///     /// Plans the work.
///     Orchestrator,
///     #[agent_type(rename = "TICKETS")]
///     TicketDispatch,
/// }
///
/// /// Who may raise one: the worker is no route, so it names the one that answers for it.
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
/// #[agent_type(route = RouteType)]
/// enum AgentKind {
///     Orchestrator,
///     TicketDispatch,
///     #[agent_type(origin = TicketDispatch)]
///     TicketAgent,
/// }
///
/// assert_eq!(RouteType::NAMES, ["ORCHESTRATOR", "TICKETS"]);
/// assert_eq!("TICKETS".parse(), Ok(RouteType::TicketDispatch));
/// assert_eq!(AgentKind::TicketAgent.origin_route(), RouteType::TicketDispatch);
/// ```
///
/// Beside the trait it makes `Display`, `FromStr`, `Serialize`, `Deserialize` and `JsonSchema`, all by
/// the name on the wire. The other derives of the example are yours to write.
///
/// | option | where | what it does |
/// | --- | --- | --- |
/// | `route = Type` | enum | the routes are another enumeration; without it each agent is its own route |
/// | `origin = Variant` | variant | the route of this agent's interrupts; without it the one of the same name |
/// | `rename = "..."` | variant | the name on the wire; without it the variant's, in `SCREAMING_SNAKE_CASE` |
/// | `crate = "..."` | enum | the path of this crate, if it has another name than `interrupt_router` |
///
/// An agent without an origin route does not compile.
pub use interrupt_router_derive::AgentType;

/// Derives [`trait@SealedInterrupt`] for an enumeration of all interrupts: a variant for each kind of
/// agent, with what that agent says when it raises one.
///
/// ```
/// use interrupt_router::{
///     AgentInterrupt, AgentType, InterruptDetails, InterruptRequest, InterruptType, SealedInterrupt,
/// };
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
/// enum AgentKind {
///     Planner,
///     Worker,
/// }
///
/// #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
/// struct WorkerInterrupt {
///     details: InterruptDetails,
///     changed_files: Vec<String>,
/// }
///
/// impl AgentInterrupt for WorkerInterrupt {
///     fn details(&self) -> InterruptDetails {
///         self.details.clone()
///     }
/// }
///
/// #[derive(Debug, Clone, InterruptRequest)]
/// #[interrupt(kind = AgentKind)]
/// enum Interrupt {
///     Planner(InterruptDetails),
///     Worker(WorkerInterrupt),
/// }
///
/// let raised = Interrupt::from(InterruptDetails::new(
///     InterruptType::HumanReview,
///     "two plans are equally good",
/// ));
/// assert_eq!(raised.kind(), AgentKind::Planner);
/// assert!(serde_json::to_string(&raised)?.starts_with(r#"{"kind":"PLANNER","request":{"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// `#[interrupt(crate = "...")]` names the path of this crate, if it has another name than `interrupt_router`.
///
/// Variants are named after the kinds. A kind without a variant does not compile, nor does a variant
/// without a kind. A payload type that one variant alone carries is made into the enumeration by
/// `From`; one that several carry does not say who raised it, and is not.
pub use interrupt_router_derive::InterruptRequest;

/// Derives [`trait@Routing`] for a record: a struct with an optional field for each route, 1 to 64.
///
/// ```
/// use interrupt_router::{AgentType, InterruptRoutes, Route, RouteSet, Routing};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
/// enum RouteType {
///     Planner,
///     Reviewer,
/// }
///
/// #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
/// struct Goal {
///     goal: String,
/// }
///
/// /// Where an interrupted agent goes on.
/// #[derive(Debug, Clone, Routing)]
/// #[routing(agent_types = RouteType)]
/// struct InterruptRouting {
///     /// Plans again, from the goal.
///     #[route(agent_type = Planner, marker = PlannerRoute)]
///     planner_request: Option<Goal>,
///     #[route(agent_type = Reviewer)]
///     review_request: Option<Goal>,
/// }
///
/// // The marker of a field is its name in the types.
/// assert_eq!(PlannerRoute::FIELD, "plannerRequest");
/// assert_eq!(PlannerRoute::AGENT_TYPE, RouteType::Planner);
/// assert_eq!(InterruptRouting::route_to(RouteType::Planner), PlannerRoute::id());
///
/// // Sets of routes are constants.
/// const REST: RouteSet<InterruptRouting> = RouteSet::of::<PlannerRoute>().complement();
/// assert_eq!(REST.fields(), ["reviewRequest"]);
///
/// // Reading is strict: exactly one field, and nothing else.
/// let record: InterruptRouting = serde_json::from_str(r#"{"reviewRequest": {"goal": "ship"}}"#)?;
/// assert_eq!(record.into_one().map(|(route, _request)| route.field()), Ok("reviewRequest"));
/// assert!(serde_json::from_str::<InterruptRouting>("{}").is_err());
///
/// // One action for each route: an implementation that misses one does not compile.
/// struct Print;
///
/// impl InterruptRoutingActions<()> for Print {
///     type Output = String;
///     type Error = std::convert::Infallible;
///
///     async fn planner_request(&self, request: Goal, _: &()) -> Result<String, Self::Error> {
///         Ok(format!("plan {}", request.goal))
///     }
///
///     async fn review_request(&self, request: Goal, _: &()) -> Result<String, Self::Error> {
///         Ok(format!("review {}", request.goal))
///     }
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// It makes a marker type for each field, beside the record and as visible; [`Route`] for each of them,
/// with a constant `AGENT_TYPE` if it leads to an agent type; `Serialize`, `Deserialize` and `JsonSchema` of
/// the record; the trait of its actions, and the function `dispatch` of the record, which gives the
/// request of the one set field to its action. Doc comments become the descriptions that a model reads.
///
/// | option of `#[routing(...)]` | what it does |
/// | --- | --- |
/// | `agent_types = Type` | the record answers interrupts: each field leads to an agent type, each type has one field ([`InterruptRoutes`]) |
/// | `rename = "..."` | the record's name in schemas |
/// | `crate = "..."` | the path of this crate, if it has another name than `interrupt_router` |
/// | `rename_all = "..."` | the casing of the fields in JSON; without it `camelCase` |
/// | `actions = Name` | the name of the actions' trait; without it the record's, followed by `Actions` |
///
/// | option of `#[route(...)]` | what it does |
/// | --- | --- |
/// | `marker = Name` | the marker's name; without it the record's, the field's, and `Route` |
/// | `agent_type = Variant` | where the route leads; a whole path on a record without `agent_types` |
/// | `rename = "..."` | the field's name in JSON |
/// | `returns` | the route leads back to the caller of the agent |
///
/// What is wrong with a record does not compile, all of it reported at once, at the token that is
/// wrong: a field that is not optional, a marker or a name used twice, an agent type without a route or
/// with two, a request that has no schema, an option that does not exist, an attribute of serde or schemars,
/// a name that not every provider takes. What a derive cannot see, within the requests, [`Routing::check`]
/// finds: write `Record::check().unwrap()` in a test.
pub use interrupt_router_derive::Routing;

/// Writes the ports' asynchronous functions: [`model::LanguageModel`], [`review::Reviewer`], [`handler::Decisions`] and others.
pub use async_trait::async_trait;

/// What most orchestrators need: `use interrupt_router::prelude::*`.
pub mod prelude {
    pub use crate::bus::{DEFAULT_BACKLOG, EventBus, NodeStatus};
    pub use crate::context::{FilterPropertiesDecorator, LlmCallContext};
    pub use crate::event::InterruptRequestEvent;
    pub use crate::handler::{OperationContext, Resolution, UnifiedInterruptHandler};
    pub use crate::memory::{InMemoryRouter, RunningAgents};
    pub use crate::model::{
        Dialect, LanguageModel, Message, ModelCall, ModelError, ModelReply, PartialReply,
    };
    pub use crate::planner::{ActionInfo, BlackboardRoutingPlanner, Next, Step};
    pub use crate::review::{Answer, Question, ReviewError, Reviewer};
    pub use crate::{
        AgentInterrupt, AgentType, Blackboard, EventId, InterruptDetails, InterruptId,
        InterruptRequest, InterruptType, NodeId, Outcome, Route, Routing, RunId, StopScope,
        async_trait,
    };
}

#[doc(hidden)]
pub mod __private;
