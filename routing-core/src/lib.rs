//! Typed interrupt routing for multi-agent language-model orchestrators.
//!
//! A *routing record* is a struct with one optional field for each place an agent may go. From it,
//! [`derive@Routing`] makes a marker type for each route, the set of all routes, the schemas that a
//! model is shown, and the strict reading of what the model answers. A value narrowed to one route
//! cannot hold another: that is a type, not a check.
//!
//! # Quick start
//!
//! ```
//! use routing_core::answer::read_narrowed;
//! use routing_core::model::Dialect;
//! use routing_core::{AgentType, Route, Routing};
//!
//! #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
//! enum Desk {
//!     Writer,
//!     Publisher,
//! }
//!
//! #[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! struct Article {
//!     title: String,
//! }
//!
//! /// Where an article goes after an interrupt.
//! #[derive(Debug, Clone, Routing)]
//! #[routing(agent_types = Desk)]
//! struct AfterInterrupt {
//!     /// Write it again.
//!     #[route(marker = WriterRoute, agent_type = Writer)]
//!     rewrite: Option<Article>,
//!     /// Publish it.
//!     #[route(marker = PublisherRoute, agent_type = Publisher)]
//!     publish: Option<Article>,
//! }
//!
//! // The writer was interrupted: its model is shown one route, and can answer along no other.
//! assert!(!WriterRoute::schema(Dialect::JsonSchema).text().contains("publish"));
//! let refused = read_narrowed::<WriterRoute>(br#"{"publish": {"title": "Too early"}}"#);
//! assert_eq!(refused.unwrap_err().path(), "$.publish");
//! ```
//!
//! From here: [`handler`] resolves interrupts, [`context`] narrows calls, [`planner`] dispatches, [`bus`]
//! and [`reroute`] carry supervisors' events, [`model`] and [`review`] are the ports to implement.

/// The guide's chapter on embedding: its examples are tested with the crate's own.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
pub struct EmbeddingGuide;

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
