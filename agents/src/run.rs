//! One execution of the workflow: what it needs, what it tells, what becomes of it.

mod config;
mod ended_by_worker;
mod goal;
mod handed_on;
pub(crate) mod handle;
mod order;
pub(crate) mod progress;
mod resumable;
mod standing;

pub use config::RunConfig;
pub use ended_by_worker::ended_by_worker;
pub use goal::{Goal, GoalError, LONGEST_GOAL};
pub use handed_on::{handed_on, is_said};
pub use handle::{Run, execute};
pub use order::{OrderError, RunOrder, ToolOrder, Workflow};
pub use progress::{LastInterrupt, PlannedNode, RunProgress, Steps};
pub use resumable::{check_checkpoint, ends_at};
pub use standing::save_standing;
