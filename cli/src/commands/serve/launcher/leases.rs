//! Runs of other processes for which something has come: they are gone on with here where those are gone.

use interrupts::life::RunState;
use interrupts::store::Run;
use routing_core::RunId;

use super::{Delay, Launcher};
use crate::exit::Failure;
use crate::refused::by_store;

impl Launcher {
    /// Whether a run is at work, or was when its process died.
    pub(super) fn is_at_work(&self, run: &Run) -> bool {
        matches!(run.state, RunState::Running | RunState::Stopping)
    }

    /// Goes on with a run that another process executes, at once where that is known to be gone, or once its lease has
    /// run out. Whoever renews it meanwhile lives, and has been told what has come.
    pub(super) fn look_when_left(&self, run: RunId) {
        if self.0.leases.tasks().is_closed() {
            return;
        }
        let delay = self.0.leases.begin(run);
        let launcher = self.clone();
        self.0.leases.tasks().spawn(async move {
            match launcher.is_left(run, &delay).await {
                Ok(true) => launcher.look_again(run).await,
                Ok(false) => {}
                Err(error) => tracing::warn!(%run, %error, "the run could not be looked at"),
            }
            launcher.0.leases.end(run, &delay);
        });
    }

    /// Whether the process that has a run is gone, as soon as that is known; false where it lives, or somebody has begun
    /// to look anew.
    async fn is_left(&self, run: RunId, delay: &Delay) -> Result<bool, Failure> {
        let mut first = None;
        loop {
            let found = self.0.store().run(run).await;
            let Some(row) = found.map_err(|error| by_store(&error))? else {
                return Ok(false);
            };
            if !self.is_at_work(&row) {
                return Ok(false);
            }
            if !self.0.keeping.is_held_elsewhere(&row) {
                return Ok(true);
            }
            let Some(lease) = row.lease else {
                return Ok(true);
            };
            if lease.until > *first.get_or_insert(lease.until) {
                return Ok(false);
            }
            if !delay.sleeps(lease.until).await {
                return Ok(false);
            }
        }
    }
}
