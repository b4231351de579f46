//! Whole runs of the workflow: where they go, what stops them, and what is told of them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed, also in a function that tests share"
)]

mod interrupts;
mod models;
mod stage;
mod walk;
mod workers;
