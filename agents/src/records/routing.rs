//! Where each node may go: one routing record for each kind of agent, and the one that answers
//! interrupts.
//!
//! An `interrupt_request` stands first in each, and wins over nothing: exactly one field is set.

mod discovery;
mod interrupt;
mod orchestration;
mod planning;
mod support;
mod ticket;

pub use discovery::*;
pub use interrupt::*;
pub use orchestration::*;
pub use planning::*;
pub use support::*;
pub use ticket::*;
