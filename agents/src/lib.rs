//! The reference workflow: fourteen node types, three workers, their records, prompts and edges.

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
