//! The registry of stops under thousands of schedules: the same source, with a lock that a scheduler controls.
//!
//! Scopes are stand-ins, for the tokens of the real ones have locks of their own.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../src/manager/active_stops.rs"]
mod active_stops;
#[path = "../../src/manager/registry.rs"]
#[expect(
    dead_code,
    reason = "the tests use the part of it that threads race for"
)]
mod registry;
mod scope;
mod sync;
#[path = "../../src/manager/tree.rs"]
#[expect(
    unreachable_pub,
    reason = "in the library it is part of what embedders see"
)]
mod tree;

mod races;
