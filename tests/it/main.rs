//! The integration tests of the whole.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod architecture;
mod auditor;
mod clock;
mod tidy;
