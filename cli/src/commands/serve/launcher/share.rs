//! Which of the runs that were started over the network this process executes.

use std::num::NonZeroU32;

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::manager::ScanSchedule;
use interrupts::store::Run;
use jiff::Timestamp;
use journal::executed_by_worker;

use super::{Launcher, RunTurn, Word};
use crate::commands::serve::order::is_launched;
use crate::exit::{Exit, Failure};

/// Which runs a process executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands::serve) enum RunShare {
    /// Those that were started here, and those that have lost their process.
    Own,
    /// Any that has no process, up to so many at once.
    UpTo(NonZeroU32),
    /// None: workers execute them.
    None,
}

impl RunShare {
    pub(in crate::commands::serve) const fn of_server(leaves_all_to_workers: bool) -> Self {
        match leaves_all_to_workers {
            true => Self::None,
            false => Self::Own,
        }
    }
}

impl Launcher {
    /// How many more runs may be taken here; `None` if nothing limits them.
    pub(super) fn room(&self) -> Option<usize> {
        match self.0.share {
            RunShare::Own => None,
            RunShare::UpTo(slots) => {
                let slots = usize::try_from(slots.get()).unwrap_or(usize::MAX);
                Some(slots.saturating_sub(self.0.here().len()))
            }
            RunShare::None => Some(0),
        }
    }

    /// Whether this process takes runs that others have started as soon as there are any.
    pub(super) fn is_worker(&self) -> bool {
        matches!(self.0.share, RunShare::UpTo(_))
    }

    /// Whether there is room for a run that was claimed here just now.
    pub(super) fn has_room(&self) -> bool {
        let RunShare::UpTo(slots) = self.0.share else {
            return true;
        };
        self.0.here().len() <= usize::try_from(slots.get()).unwrap_or(usize::MAX)
    }

    /// Why a run is not taken now. In case other workers have no room either, it is looked at again once there is room here.
    pub(super) fn without_room(&self, run: RunId) -> Failure {
        let delay = self.0.leases.begin(run);
        let launcher = self.clone();
        self.0.leases.tasks().spawn(async move {
            while delay
                .sleeps(Timestamp::now() + ScanSchedule::USUAL.for_room)
                .await
            {
                if launcher.room() != Some(0) {
                    launcher.look_again(run).await;
                    break;
                }
            }
            launcher.0.leases.end(run, &delay);
        });
        Failure::new(Exit::Conflict, "all slots of this worker are taken")
            .hint("start another worker, or give it more --slots")
    }

    /// Whether a run waits for any worker: it has not begun, or was handed over.
    pub(super) fn is_free(&self, run: &Run) -> bool {
        let may_begin = matches!(
            run.state,
            RunState::Created | RunState::Running | RunState::Stopping
        );
        may_begin
            && run.lease.is_none()
            && !executed_by_worker(&run.content)
            && is_launched(&run.content)
    }

    /// Takes a run whose state has changed, if it waits for any worker and this is one with room for it.
    pub(super) async fn take_if_free(&self, run: RunId) {
        if !self.is_worker() || self.room() == Some(0) {
            return;
        }
        let row = match self.0.store().run(run).await {
            // If it is another worker's turn, the next look sees whether that has taken it.
            Ok(Some(row)) if self.is_free(&row) && self.turn(&row) == RunTurn::Now => row,
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%run, %error, "the run could not be looked at");
                return;
            }
        };
        if let Err(error) = self.go_on(&row, Word::News, None).await {
            tracing::debug!(%run, %error, "another worker has the run");
        }
    }
}
