//! Plan and execute: a workflow that makes a plan, carries it out step by step, and changes it on the way.
//!
//! The crate `planning` holds the whole state machine. [`PlanDesk`] turns the machine's effects that ask a model into
//! the events that follow; the driver performs the others.

mod desk;
mod driver;
mod news;
mod prompts;
mod records;

pub use desk::{DeskError, PlanDesk};
pub use driver::{PlanBench, PlanChange, change_plan, execute_plan};
pub use news::{PlanNews, PlanStands, PlanStepStarted};
pub use records::{
    ExecutorRouting, FinalResponse, PlanDraft, PlannerRouting, ReplannerRouting, StepReport,
};
