//! What a program reads if it could not ask.

use interrupts::life::RunState;
use workers::WorkError;

use crate::exit::{Exit, Failure};
use crate::refused::by_store;
use crate::run_owner::owner_words;

/// A refusal of the worker protocol as a failure, with a hint.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest, which may become more, has no other remedy than its own words"
)]
pub(crate) fn by_work(error: &WorkError) -> Failure {
    let text = error.to_string();
    match error {
        WorkError::Store(error) => by_store(error),
        WorkError::Paused { run } => {
            let text = format!("a person has paused {run}; the questions of this session wait");
            let hint = format!(
                "a person lets it go on: irq resume {run}; then call the tool again with the same words"
            );
            Failure::new(Exit::Conflict, text).hint(hint)
        }
        WorkError::Ended { run, state } => {
            let how = match state {
                RunState::Cancelled => "a person has stopped",
                RunState::Created
                | RunState::Running
                | RunState::Stopping
                | RunState::Paused
                | RunState::Waiting
                | RunState::Completed
                | RunState::Failed => "something has ended",
            };
            let text = format!("{how} {run}, and with it the questions of this session");
            let hint = "ask nothing more; a client that is started anew has a new session";
            Failure::new(Exit::Stopped, text).hint(hint)
        }
        WorkError::Owned { lease } => {
            let owner = owner_words(lease.owner.as_str());
            let text = format!("another process ({owner}) has the run of this session");
            Failure::new(Exit::Conflict, text).hint("give this one another name: --name NAME")
        }
        WorkError::UnknownQuestion { key } => {
            Failure::new(Exit::NotFound, format!("there is no ticket `{key}`"))
                .hint("`list_open` lists the questions that wait, with their tickets")
        }
        _ => Failure::new(Exit::Failure, text),
    }
}
