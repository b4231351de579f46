//! Plan and execute: a workflow that makes a plan, carries it out step by step, and changes it on the way.
//!
//! The crate `planning` holds the whole state machine. [`PlanAgents`] turns the machine's effects that ask a model into
//! the events that follow; the driver performs the others.

mod driver;
mod news;
mod plan_agents;
mod prompts;
mod records;

pub use driver::{PlanChange, PlanEditing, PlanWorkflow, change_plan};
pub use news::{PlanNews, PlanProgress, PlanStepStarted};
pub use plan_agents::{PlanAgents, PlanAgentsError};
pub use records::{
    ExecutorRouting, FinalResponse, PlanDraft, PlannerRouting, ReplannerRouting, StepReport,
};
