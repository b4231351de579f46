//! What a person has made of a run in its window, once its process has let it go.

use agents::run::{RunReport, RunStatus};
use interrupts::life::{Family, RunState, State};
use interrupts::store::{Filter, Store};

use crate::exit::{Exit, Failure};
use crate::listing;
use crate::refused::by_store;
use crate::storage::is_owned;

/// How the run stands.
pub(super) enum AfterVisit {
    /// As its process has left it.
    Rests,
    /// The person let it go on, and nobody else has taken it up.
    MayGoOn,
    /// The person has ended it.
    Ended(RunStatus),
}

impl AfterVisit {
    /// Looks at a run whose window has gone.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read.
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
        let run = run.map_err(|error| by_store(&error))?.ok_or_else(gone)?;
        if run.state == RunState::Cancelled {
            return Ok(Self::Ended(RunStatus::Cancelled {
                reason: "ended from the terminal".to_owned(),
                from_outside: true,
            }));
        }
        if run.state != RunState::Paused || is_owned(&run) {
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
        let open = listing::interrupts_in(store, &filter).await;
        let open = open.map_err(|error| by_store(&error))?;
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
