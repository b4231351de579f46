//! Processes that die: `irq` is killed, again and again, at any time; other processes go on with its runs.
//!
//! The model is a server that numbers its calls and keeps a ledger of them; supervisors publish events and
//! write down what they were told; people decide what agents ask. At the end an auditor that trusts none of
//! them compares the ledgers with the store: nothing may be lost, doubled or different.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod another_answer;
mod brain;
mod cut_off;
mod deaths;
mod failpoints;
mod fickle;
mod life;
mod once;
mod owners;
mod people;
mod planted;
mod random_deaths;
mod same_end;
mod service;
mod stops;
mod supervisors;
mod trace;
mod wire_brain;
mod world;
