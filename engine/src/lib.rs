//! Durable runs of agents: lets the interrupts of any orchestrator survive the death of its process.

#[doc(hidden)]
pub mod durable;
pub mod keeping;
pub mod run;
mod tool_desk;
pub mod tools;
pub mod workflow;

pub use keeping::Keeper;
pub use tool_desk::ExecutorDesk;
pub use workflow::{
    Agent, Decided, Effect, ErasedWorkflow, Executed, Execution, Exit, Routed, Run, RunSettings,
    Workflow,
};
