//! The plan-and-execute workflow, from outside.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on fails"
)]

mod applied;
mod deaths;
mod durable;
mod escape;
mod failures;
mod forks;
mod given_up;
mod improvised;
mod kept;
mod messages;
mod open_steps;
mod plans;
mod properties;
mod questions;
mod rehearsal;
mod review;
mod scene;
mod sequences;
mod unfit;
