//! Whether a process continues a run whose pause was decided.

use std::time::Duration;

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::Run;
use tokio::time::Instant;

use super::draw::short;
use crate::advice::continuing_as;
use crate::backend::{Backend, is_left_there};
use crate::exit::Failure;
use crate::run_owner::has_process;

/// How often to look.
const LOOK: Duration = Duration::from_millis(100);
/// How long a run may seem to work when its process is about to rest: its pause is recorded before its state.
const ABOUT_TO_REST: Duration = Duration::from_millis(1_500);
/// How long a server may take to continue a run that rests.
const TAKEN_UP: Duration = Duration::from_secs(1);
/// How long a process may take to end.
const LONGEST: Duration = Duration::from_secs(10);

/// What becomes of a run whose pause was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunContinuation {
    /// A process works on it.
    GoesOn,
    /// No process has it.
    Alone(Way),
    /// No process has it, and the server that launched it continues it.
    Server,
    /// Its process has not released it yet, and does not work on it.
    Ending(Way),
    /// It has ended, or is gone.
    Over,
}

/// What continues a run that no process has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way(String);

impl Way {
    pub(super) fn of(run: &Run) -> Self {
        Self(continuing_as(run, &short(&run.id.to_string())))
    }
}

impl RunContinuation {
    /// Looks for a while at a run whose pause was decided just now.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn of(at: &dyn Backend, run: RunId) -> Result<Self, Failure> {
        let began = Instant::now();
        let mut rested = None;
        loop {
            let Some(found) = at.run(run).await? else {
                return Ok(Self::Over);
            };
            if found.state.is_final() {
                return Ok(Self::Over);
            }
            match (has_process(&found), found.state) {
                (true, RunState::Running | RunState::Waiting) => {
                    if rested.is_some() || began.elapsed() >= ABOUT_TO_REST {
                        return Ok(Self::GoesOn);
                    }
                }
                (true, _) => {
                    rested.get_or_insert_with(Instant::now);
                    if began.elapsed() >= LONGEST {
                        return Ok(Self::Ending(Way::of(&found)));
                    }
                }
                (false, _) => {
                    let since = rested.get_or_insert_with(Instant::now);
                    if since.elapsed() >= TAKEN_UP {
                        return Ok(if is_left_there(at, &found) {
                            Self::Server
                        } else {
                            Self::Alone(Way::of(&found))
                        });
                    }
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    pub(super) fn in_words(self) -> String {
        match self {
            Self::GoesOn => "Decided; it goes on.".to_owned(),
            Self::Server => "Decided. The server goes on with it.".to_owned(),
            Self::Alone(Way(way)) => format!("Decided. No process runs it now: {way}"),
            Self::Ending(Way(way)) => format!("Decided. Its process is about to end; then: {way}"),
            Self::Over => "Decided.".to_owned(),
        }
    }
}
