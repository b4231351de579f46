//! Supervisors over NATS: the real binary, a real NATS server, and clients that know nothing of ours.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod asking;
mod clusters;
mod credentials;
mod deaths;
mod described;
mod hearing;
mod letting_in;
#[expect(dead_code, reason = "shared with the other tests of the binary")]
#[path = "../it/program.rs"]
mod program;
mod scene;
mod starting;
mod supervisors;
