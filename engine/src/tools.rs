//! Tools for the run's agents: which agent may use which, the rounds in which a model uses them, their calls in the
//! run's journal, and the questions that they put to people.
//!
//! A model that asks for tools gets their results and is asked again, until it answers. Each of its answers and each
//! call is in the journal, intent before result, so a resumed run reads what was done and does the rest. If the outcome
//! of a call is unknown, a person is asked, unless the call may be made again.
//!
//! Owns the loop and its record. Knows nothing of processes, which belong to the crate of tools.

mod access;
mod approver;
mod asking;
mod elicitor;
mod events;
mod excerpt;
mod exchange;
mod held_back;
mod launching;
mod model;
mod offering;
mod permissions;
mod round;
mod settings;
mod tool_journal;
pub mod tooling;

pub use access::ToolAccess;
pub use elicitor::RunElicitor;
pub use launching::{Ground, LaunchRound};
pub use permissions::{PermissionsError, ToolPermissions};
pub use settings::AgentTools;

pub use model::ToolUsingModel;
pub use round::RoundEnd;
pub use tool_journal::left_out_call;
pub use tooling::{Parked, Round, Tooling, ToolingParts};
