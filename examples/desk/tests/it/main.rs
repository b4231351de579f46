//! The desk, killed, stopped, sent elsewhere and answered.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed, also in a function that tests share"
)]

mod answering;
mod counter;
mod dying;
mod guide;
mod hosting;
mod program;
mod queue;
mod sending;
mod stopping;
