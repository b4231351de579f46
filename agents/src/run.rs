//! One execution of the workflow: its configuration, its events, and its end.

mod ended_by_worker;
mod goal;
pub(crate) mod handle;
mod order;
mod orphaned;

pub use ended_by_worker::ended_by_worker;
pub use goal::{Goal, GoalError, LONGEST_GOAL};
pub use handle::{AgentsWorkflow, RunHandle};
pub use order::{RunOrder, ToolOrder, root_of};
pub use orphaned::save_orphaned;
