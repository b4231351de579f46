//! Whole runs of the workflow: where they go, what stops them, and what is told of them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed, also in a function that tests share"
)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test looks at the events and ends that it is about"
)]

mod another_answer;
mod calls;
mod controlled;
mod decided;
mod events;
mod given_up;
mod held;
mod interrupts;
mod left_out;
mod lives;
mod models;
mod older_journals;
mod resuming;
mod said;
mod stage;
mod stopped_anywhere;
mod stops;
mod tools;
mod unfilled;
mod walk;
mod workers;
mod wrong_routes;
