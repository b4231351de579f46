//! What makes a run durable: its journal, and everything of it that a store keeps.
//!
//! A resumed run executes the workflow again from its start. Whatever came from outside the workflow's own
//! code, a model's answer, a letter, a decision, the number of a step, is looked up in the journal by its
//! place in the run and read, not produced again. Between two such places the code does the same each time,
//! so it arrives where the run stood, and goes on from there.

pub(crate) mod allowance;
pub(crate) mod attempts;
pub(crate) mod checkpoint;
pub(crate) mod control;
pub(crate) mod decisions;
pub(crate) mod desk;
pub(crate) mod entry;
pub(crate) mod error;
pub(crate) mod given_up;
pub(crate) mod handed;
pub(crate) mod handed_event;
pub(crate) mod input;
pub(crate) mod journal;
pub(crate) mod kinds;
pub(crate) mod letter;
pub(crate) mod model;
pub(crate) mod order;
pub(crate) mod place;
pub(crate) mod record;
pub(crate) mod recorded;
pub(crate) mod replay;
pub(crate) mod reroutes;
pub(crate) mod unread;
