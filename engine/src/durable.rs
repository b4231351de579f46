//! What makes a run durable: its journal, and everything of it that a store keeps.
//!
//! A resumed run executes the workflow again from its start. Everything that came from outside the workflow's own code,
//! a model's answer, a message, a decision, the number of a step, is looked up in the journal by its place in the run
//! and read, not produced again. Between two such places the code does the same each time, so it reaches the point
//! where the run had stopped, and goes on from there.

pub mod cancelled_pause;
pub mod checkpoint;
pub mod control;
pub mod decisions;
pub mod journal;
pub mod kinds;
pub mod model;
pub mod record;
pub mod recorded;
pub mod replay;
pub mod reroutes;
pub mod stored_interrupts;
pub mod undelivered;
