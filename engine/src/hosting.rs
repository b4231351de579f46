//! Runs that this process owns: other processes stop them, send to them and answer them while they are executed.

mod control;
mod inbox;
mod manager_notifier;
mod owner;
mod run_host;

pub use control::Control;
pub use inbox::LateInbox;
pub use manager_notifier::ManagerNotifier;
pub use owner::{gone_owner, has_process, has_process_at, in_words, is_gone, is_process, own_name};
pub use run_host::{HostError, RunHost};
