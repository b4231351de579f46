//! One execution of the workflow: its configuration, its events, and its end.

mod config;
mod ended_by_worker;
mod goal;
mod handed_on;
pub(crate) mod handle;
mod order;
mod standing;

pub use config::RunConfig;
pub use ended_by_worker::ended_by_worker;
pub use goal::{Goal, GoalError, LONGEST_GOAL};
pub use handed_on::{handed_on, is_said};
pub use handle::{RunHandle, execute};
pub use order::{RunOrder, ToolOrder, root_of};
pub use standing::save_standing;
