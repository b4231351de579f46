//! The router as its embedders use it: events, reroutes, the bus, decorators, the planner and the handler.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on fails"
)]

mod again;
mod agreement;
mod ask;
mod blackboard;
mod bus;
mod context;
mod domain;
mod handler;
mod person;
mod planner;
mod prompt;
mod reroute;
mod review;
mod scene;
