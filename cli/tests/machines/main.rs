//! Machines that fail: three workers, two servers, a PostgreSQL server with a synchronous standby, three NATS servers.
//!
//! Each of them is killed and stopped, cut off, wiped or restarted while supervisors publish, and people decide. All of
//! them write down what they try and what they are told; at the end the auditor of the crash proof compares that with
//! the store. Where this machine allows it, each of them is in a namespace of its own, with an address of its own, and what
//! one sends to another can be dropped; elsewhere all are on loopback, and `irq` reaches the others through ports that can
//! be cut. Each process of `irq` has a list of processes of its own, too, so that no other one can see whether it lives.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../crash/brain.rs"]
mod brain;
mod broker;
mod clock;
mod count;
mod database;
mod deciders;
mod faults;
mod installation;
mod link;
mod machine;
mod network;
mod proof;
mod publishers;
mod sessions;
mod starters;
mod takeovers;
mod ways;
#[path = "../crash/wire_brain.rs"]
mod wire_brain;
mod woken;
