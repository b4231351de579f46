//! Durable runs of agents: lets the interrupts of any orchestrator survive the death of its process.

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
