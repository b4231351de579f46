//! Keeping runs: what is asked of them reaches them, takes hold, and is recorded.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on fails"
)]

mod scene;
mod stopping;
