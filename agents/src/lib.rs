//! The reference workflow: fourteen node types, three workers, their records, prompts and edges.

mod agent_kind;
pub mod catalogue;
pub mod plan_execute;
mod prompts;
pub mod records;
pub mod run;
mod workflow;
pub mod workspace;

pub use agent_kind::{AgentKind, RouteLevel, RouteType};
