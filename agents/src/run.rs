//! One execution of the workflow: what it needs, what it tells, what becomes of it.

mod config;
mod ended_by_worker;
pub(crate) mod ending;
mod event;
mod goal;
mod going_on;
mod handed_on;
pub(crate) mod handle;
mod ignored;
mod inbox;
pub(crate) mod ledger;
mod left;
pub(crate) mod metered_model;
pub(crate) mod nodes;
pub(crate) mod progress;
pub(crate) mod recorder;
mod report;
pub(crate) mod reroute_log;
pub(crate) mod spans;
mod standing;
pub(crate) mod stoppable_reviewer;
mod suggestion;
mod used;
pub(crate) mod working;

pub use crate::durable::allowance::{Allowance, BudgetOrder};
pub use crate::durable::checkpoint::{
    NodeSnapshot, RunSnapshot, UnreadCheckpoint, check_checkpoint, ends_at,
};
pub use crate::durable::control::{RunControl, StepsTaken, Stopped, Trouble};
pub use crate::durable::entry::Prompt;
pub use crate::durable::given_up::given_up_because;
pub use crate::durable::order::{OrderError, RunOrder, ToolOrder, Workflow};
pub use crate::durable::record::{Hold, RunStore};
pub use config::{RunConfig, RunLimits};
pub use ended_by_worker::ended_by_worker;
pub use event::{NodeState, RunEvent, RunObserver, RunOccurrence};
pub use goal::{Goal, GoalError, LONGEST_GOAL};
pub use going_on::{ResumeRequest, said_to_fork};
pub use handed_on::{handed_on, is_said};
pub use handle::{Run, execute};
pub use inbox::RunInbox;
pub use left::leave_out_of_ended;
pub use nodes::{NodeDirectory, NodeView};
pub use progress::{LastInterrupt, PlannedNode, RunProgress, Steps};
pub use report::{InterruptRecord, InterruptResult, RunReport, RunStatus};
pub use standing::save_standing;
pub use suggestion::Suggestion;
pub use used::{CallEnd, CallUse, RunUse};
pub use working::{WorkError, Working, keep_input};
