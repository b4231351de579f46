//! Policies: which rule decides what, what is refused, and what is never approved.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod automatic;
mod batches;
mod explaining;
mod properties;
mod reading;
mod scene;
mod terms;
