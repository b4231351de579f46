//! Durable runs of agents: lets the interrupts of any orchestrator survive the death of its process.
//!
//! An orchestrator implements [`Workflow`]. Every workflow is executed in one way, `run/execution.rs`: code, the table
//! of nodes of the reference workflow, and the machine of plan and execute differ in their work alone. Kinds of agents
//! are names here. A tool call that waits is parked: it gets no message, and continues with its run.

mod conversation_tools;
#[doc(hidden)]
pub mod durable;
pub mod hosting;
pub mod run;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tools;
pub mod workflow;

pub use conversation_tools::ExecutorTools;
pub use hosting::RunHost;
pub use run::RunSettings;
pub use workflow::{
    Agent, Decided, Declined, Effect, ErasedWorkflow, Executed, Execution, Exit, Routed, Run,
    Workflow,
};
