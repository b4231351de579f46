//! Typed interrupt routing for multi-agent language-model orchestrators.
//!
//! A *routing record* is a struct with one optional field for each place an agent may go. From it,
//! [`derive@Routing`] makes a marker type for each route, the set of all routes, the schemas that a
//! model is shown, and the strict reading of what the model answers. A value narrowed to one route
//! cannot hold another: that is a type, not a check.

#[cfg(test)]
extern crate self as routing_core;

mod agent_type;
pub mod answer;
pub mod ask;
mod blackboard;
pub mod bus;
mod clock;
pub mod context;
pub mod event;
pub mod handler;
mod ids;
mod interrupt;
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

pub use agent_type::{AgentType, UnknownAgentType};
pub use blackboard::{Blackboard, Entry};
pub use clock::{Clock, SystemClock};
pub use ids::{DecisionId, EventId, InterruptId, NodeId, ParseIdError, RunId};
pub use interrupt::{
    AgentInterrupt, Choice, ConfirmationItem, InterruptDetails, InterruptType, SealedInterrupt,
};
pub use narrowed::Narrowed;
pub use outcome::Outcome;
pub use route::{AgentRoute, Request, Route, RouteId, RouteInfo};
pub use route_set::RouteSet;
pub use routing::{Component, DispatchError, InterruptRoutes, OneRouteError, Routing, RoutingKind};
pub use routing_derive::{AgentType, InterruptRequest, Routing};
pub use stop::{StopMode, StopReason, StopScope, StopSource};

#[doc(hidden)]
pub mod __private;
