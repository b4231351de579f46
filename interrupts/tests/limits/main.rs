//! Limits: what is counted, when a stop is asked for, and that nothing is left behind.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod budget;
mod model;
mod prices;
mod resources;
mod scene;
mod steps;
mod time;
