//! What a person did with a run in its window, once its process has released it.

use control::RunProgress;
use engine::run::{RunReport, RunStatus};
use interrupt_router::RunId;
use interrupts::life::{Family, RunState, State};
use interrupts::store::{Filter, Run, Store};

use crate::exit::{Exit, Failure};
use crate::listing;
use crate::run_owner::has_process;

/// The state of the run.
pub(super) enum AfterVisit {
    /// As its process has left it.
    Rests,
    /// The person let it go on, and no other process has taken it up.
    MayGoOn,
    /// It has ended meanwhile, here or elsewhere.
    Ended(RunStatus),
    /// Another process works on it.
    Elsewhere,
}

impl AfterVisit {
    /// Looks at a run whose window is closed.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(super) async fn of(store: &dyn Store, report: &RunReport) -> Result<Self, Failure> {
        if !matches!(report.status, RunStatus::Paused { .. }) {
            return Ok(Self::Rests);
        }
        let run = store.run(report.run).await;
        let gone = || Failure::new(Exit::NotFound, format!("there is no {}", report.run));
        let run = run?.ok_or_else(gone)?;
        if let Some(end) = end_of(store, &run).await? {
            return Ok(Self::Ended(end));
        }
        if has_process(&run) {
            return Ok(Self::Elsewhere);
        }
        // Once nothing pauses it, it waits if a question of one of its agents is open.
        if !matches!(run.state, RunState::Paused | RunState::Waiting) {
            return Ok(Self::Rests);
        }
        let filter = Filter {
            run: Some(run.id),
            states: State::ALL
                .into_iter()
                .filter(|state| state.is_live())
                .collect(),
            ..Filter::default()
        };
        let open = listing::interrupts_in(store, &filter).await?;
        let is_paused = open
            .iter()
            .any(|interrupt| interrupt.family() == Family::Stop);
        Ok(if is_paused {
            Self::Rests
        } else {
            Self::MayGoOn
        })
    }
}

/// How a run has ended, if it has: in this process or in another one.
///
/// # Errors
///
/// If the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn end_of(store: &dyn Store, run: &Run) -> Result<Option<RunStatus>, Failure> {
    let said = |otherwise: &str| run.reason.clone().unwrap_or_else(|| otherwise.to_owned());
    Ok(Some(match run.state {
        RunState::Completed => {
            let progress = RunProgress::of(store, run.id, has_process).await?;
            let summary = progress.and_then(|progress| progress.result);
            RunStatus::Completed {
                summary: summary.unwrap_or_else(|| "completed by another process".to_owned()),
            }
        }
        RunState::Cancelled => RunStatus::Cancelled {
            reason: said("ended from the terminal"),
            from_outside: true,
        },
        RunState::Failed => RunStatus::Failed {
            error: said("failed in another process"),
            hint: None,
            limit_hit: false,
            resumable: false,
        },
        RunState::Created
        | RunState::Running
        | RunState::Stopping
        | RunState::Waiting
        | RunState::Paused => return Ok(None),
    }))
}

/// The error when another process continues the run.
pub(super) fn goes_on_elsewhere(run: RunId) -> Failure {
    let text = format!("another process goes on with {run}");
    let hint = format!("look with `irq ps {run}`, or `irq watch`");
    Failure::new(Exit::Conflict, text).hint(hint)
}
