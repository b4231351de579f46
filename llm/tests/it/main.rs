//! The model adapters against servers that play the providers, and the rehearsal model by itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod background;
mod calls;
mod cases;
mod chat;
mod composition;
mod constraints;
mod conversation;
mod conversation_tools;
mod early_end;
mod ends;
mod failures;
mod faults;
mod interrupts;
mod limits;
mod mocks;
mod outcomes;
mod proxies;
mod published;
mod real_model;
mod recordings;
mod rehearsal;
mod requests;
mod retries;
mod script;
mod telemetry;
mod tools;
mod transports;
