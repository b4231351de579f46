//! One execution of the workflow: what it needs, what it tells, what becomes of it.

mod event;
mod report;

pub use event::{NodeState, RunEvent, RunObserver, RunOccurrence};
pub use report::{InterruptRecord, InterruptResult, RunReport, RunStatus};
