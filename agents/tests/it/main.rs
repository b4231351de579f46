//! The records of the workflow, as models meet them.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, also in a function that tests share"
)]

mod events;
mod graph;
mod handler;
mod limits;
mod narrowing;
mod origins;
mod round_trip;
mod rows;
mod rules;
mod sample;
mod sizes;
mod snapshots;
