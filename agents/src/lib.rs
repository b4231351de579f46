//! The reference workflow: fourteen node types, three workers, their records, prompts and edges.

mod agent_kind;
pub mod catalogue;
mod durable;
pub mod plan_execute;
mod prompts;
pub mod records;
pub mod run;
mod tool_desk;
pub mod tools;
mod workflow;
pub mod workspace;

pub use agent_kind::{AgentKind, RouteLevel, RouteType};
pub use tool_desk::ExecutorDesk;
