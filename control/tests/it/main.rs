//! What can be asked, decided and requested, over a store in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod commanding;
mod deciding;
mod requesting;
