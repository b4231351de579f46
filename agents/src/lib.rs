//! The reference workflow: fourteen node types, three workers, their records, prompts and edges.

mod agent_kind;
pub mod catalogue;
pub mod records;
pub mod run;

pub use agent_kind::{AgentKind, RouteLevel, RouteType};
