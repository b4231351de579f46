//! Runs that this process owns: other processes stop them, send to them and answer them while they are executed.

mod control;
mod inbox;
mod keeper;
mod owner;
mod pulse;

pub use control::Control;
pub use inbox::LateInbox;
pub use keeper::{KeepRunError, Keeper};
pub use owner::{gone_owner, has_process, has_process_at, in_words, is_gone, is_process, own_name};
pub use pulse::PulseBell;
