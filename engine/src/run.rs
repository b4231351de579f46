//! One execution of a run, of any workflow: its store and journal, its nodes, its model and its tools.
//!
//! The hidden items serve the workflows that are not ordinary code: the fourteen agents, and plans. Nothing about them
//! is promised.

mod ending;
pub mod event;
#[doc(hidden)]
pub mod execution;
pub mod failure;
#[doc(hidden)]
pub mod ignored;
pub mod inbox;
pub mod left;
mod limits;
#[doc(hidden)]
pub mod live;
#[doc(hidden)]
pub mod metered_model;
#[doc(hidden)]
pub mod nodes;
#[doc(hidden)]
pub mod open_interrupts;
#[doc(hidden)]
pub mod raising;
#[doc(hidden)]
pub mod recorder;
pub mod report;
#[doc(hidden)]
pub mod reroute_log;
mod settings;
#[doc(hidden)]
pub mod settling;
#[doc(hidden)]
pub mod spans;
#[doc(hidden)]
pub mod stoppable_reviewer;
pub mod used;
#[doc(hidden)]
pub mod waits;
pub mod working;

pub use crate::durable::cancelled_pause::given_up_because;
pub use crate::durable::control::{RunControl, RunStopOutcome, StepsTaken, Trouble};
pub use crate::durable::kinds::{Kinds, NamedEvent};
pub use crate::durable::record::{Hold, RunStart, RunStore};
pub use ending::RunEnd;
pub use event::{RunEvent, RunObserver, RunOccurrence};
pub use failure::{RunError, StepLimitReached};
pub use inbox::RunInbox;
pub use interrupts::store::NodeActivity;
pub use journal::{Allowance, BudgetOrder, Prompt};
pub use journal::{InvalidCheckpoint, NodeSnapshot, RunSnapshot};
pub use left::leave_out_of_ended;
pub use limits::RunLimits;
#[doc(hidden)]
pub use live::{CheckpointContent, LiveRun, WorkflowParts};
pub use nodes::{NodeDirectory, NodeView};
pub use report::{InterruptRecord, InterruptResult, RunReport, RunStatus};
pub use settings::RunSettings;
pub use used::{CallUse, RunUse, TryEnd};
pub use working::{WorkError, Working, keep_input};
