//! The reference workflow: fourteen node types, three task agents, their records, prompts and edges.
//!
//! A request has a draft, which a model may fill in, and a full record, which our code makes of it. [`plan_execute`] is
//! a second workflow: its machine is the crate `planning`, and the driver here performs the machine's effects.

mod agent_kind;
pub mod catalogue;
pub mod plan_execute;
mod prompts;
pub mod records;
pub mod run;
mod usual_access;
mod workflow;
pub mod workspace;

pub use agent_kind::{AgentKind, RouteLevel, RouteType};
pub use usual_access::usual_access;
