//! What a run leaves in its store: the entries of its journal, its checkpoints, its tool calls, and how they are read.
//!
//! The engine writes these forms; viewers of a run read them here. Executes nothing, and calls no model and no tool.

#[doc(hidden)]
pub mod allowance;
#[doc(hidden)]
pub mod attempts;
pub mod brief;
#[doc(hidden)]
pub mod entry;
#[doc(hidden)]
pub mod error;
mod gist;
mod goal;
mod header;
#[doc(hidden)]
pub mod input;
pub mod kind;
#[doc(hidden)]
pub mod message;
#[doc(hidden)]
pub mod place;
mod resume_request;
mod snapshot;
mod steps;
mod suggestion;
pub mod tool;

pub use allowance::{Allowance, BudgetOrder};
pub use entry::Prompt;
pub use error::KeepError;
pub use gist::gist;
pub use goal::goal_in;
pub use header::{NEEDS, OrderError, RunHeader, Workflow, executed_by_worker, needs_in};
pub use resume_request::{RESUMED, ResumeRequest, said_to_fork};
pub use snapshot::{InvalidCheckpoint, NodeSnapshot, RunSnapshot};
pub use steps::{Steps, steps_of};
pub use suggestion::Suggestion;
