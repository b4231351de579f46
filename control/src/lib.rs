//! What people and programs ask of runs: stop, decide, resume, reroute, send; and how far a run has come.

mod checkpoint;
mod progress;

pub use checkpoint::{check_checkpoint, ends_at};
pub use progress::{LastInterrupt, PlannedNode, RunProgress};
