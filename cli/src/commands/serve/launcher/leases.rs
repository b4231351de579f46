//! Runs of other processes with news: this process continues them once those processes are gone.

use std::time::Duration;

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::Run;
use jiff::{SignedDuration, Timestamp};

use super::{Delay, Launcher, is_launched};
use crate::exit::Failure;

/// How often to check whether a paused or waiting run was released: that sends no notification.
const PACE: Duration = Duration::from_millis(500);

impl Launcher {
    /// Whether a run is at work, or was when its process died.
    pub(super) fn is_at_work(&self, run: &Run) -> bool {
        matches!(run.state, RunState::Running | RunState::Stopping)
    }

    /// Whether a run is paused or waits. Another process that has it lets a stop take effect or changes its plan, and does
    /// not continue it.
    pub(super) fn is_resting(&self, run: &Run) -> bool {
        matches!(run.state, RunState::Paused | RunState::Waiting)
    }

    /// Continues a run that another process has: at once if that process is known to be gone, or once its lease has run out.
    /// A process that works on it and renews the lease is alive, and has the news; a paused or waiting run is continued here
    /// once it is released.
    pub(super) fn look_when_left(&self, run: RunId) {
        if self.0.leases.tasks().is_closed() {
            return;
        }
        let delay = self.0.leases.begin(run);
        let launcher = self.clone();
        self.0.leases.tasks().spawn(async move {
            match launcher.left(run, &delay).await {
                Ok(Some(left)) => {
                    launcher.look_again(run).await;
                    if launcher.is_resting(&left) && is_launched(&left.content) {
                        launcher.go_on_when_due(run);
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(%run, %error, "the run could not be looked at"),
            }
            launcher.0.leases.end(run, &delay);
        });
    }

    /// The run as its owner left it, as soon as the owner is known to be gone or has released it; `None` if the owner lives
    /// and works, or a newer look has begun.
    async fn left(&self, run: RunId, delay: &Delay) -> Result<Option<Run>, Failure> {
        let mut first = None;
        loop {
            let Some(row) = self.0.store().run(run).await? else {
                return Ok(None);
            };
            let is_resting = self.is_resting(&row);
            if !is_resting && !self.is_at_work(&row) {
                return Ok(None);
            }
            let lease = row.lease.as_ref();
            let Some(until) = lease.map(|lease| lease.until) else {
                return Ok(Some(row));
            };
            if !self.0.run_owner.is_held_elsewhere(&row) {
                return Ok(Some(row));
            }
            let is_renewed = until > *first.get_or_insert(until);
            if is_renewed && !is_resting {
                return Ok(None);
            }
            let left = until.duration_since(self.0.store().now());
            let next = if is_resting {
                left.min(SignedDuration::try_from(PACE).unwrap_or(SignedDuration::MAX))
            } else {
                left
            };
            if !delay.sleeps(Timestamp::now() + next).await {
                return Ok(None);
            }
        }
    }
}
