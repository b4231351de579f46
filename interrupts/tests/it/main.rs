//! The machine of an interrupt's life, from outside.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on fails"
)]

mod ends;
mod guards;
mod model;
mod pairs;
mod properties;
mod scene;
