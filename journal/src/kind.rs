//! The kinds of entries.

use interrupts::store::JournalEntry;

/// A model was called.
pub const MODEL_CALL: &str = "model_call";
/// An interrupt was raised.
pub const INTERRUPT: &str = "interrupt";
/// A tool was called.
pub const TOOL_CALL: &str = "tool_call";
/// An agent was cut off.
pub const CUT_OFF: &str = "cut_off";
/// What was decided is carried out.
pub const DISPATCH: &str = JournalEntry::DISPATCH;
/// A message was read.
pub const MAIL: &str = "mail";
/// What earlier versions kept in the journals of forks of what the other run had not carried out: it is passed over, and
/// asked again.
pub const OF_OLD_FORKS: [&str; 2] = ["decided", "event"];
