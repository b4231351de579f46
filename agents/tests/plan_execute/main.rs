//! The plan-and-execute workflow, from outside.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on fails"
)]

mod deaths;
mod durable;
mod escape;
mod failures;
mod forks;
mod given_up;
mod kept;
mod messages;
#[path = "../workflow/mortal.rs"]
mod mortal;
mod plans;
mod properties;
mod questions;
mod rehearsal;
mod review;
mod scene;
mod unfit;
