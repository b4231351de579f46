//! Runs that go on by themselves: a policy ends their pauses after some time, while the server is running.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interrupt_router::RunId;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The longest sleep, so that a clock that was set forward is noticed.
const LOOK: Duration = Duration::from_secs(30);

/// The waiting runs.
#[derive(Default)]
pub(super) struct Delays {
    waiting: Mutex<HashMap<RunId, CancellationToken>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// The wait for one run.
pub(super) struct Delay(CancellationToken);

impl Delays {
    fn waiting(&self) -> MutexGuard<'_, HashMap<RunId, CancellationToken>> {
        // Values are only inserted or removed whole, so a panic elsewhere does not corrupt it.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the wait for a run. An earlier wait for it is cancelled: it knew less.
    pub(super) fn begin(&self, run: RunId) -> Delay {
        let delay = self.stop.child_token();
        if let Some(earlier) = self.waiting().insert(run, delay.clone()) {
            earlier.cancel();
        }
        Delay(delay)
    }

    /// Removes a wait that is over.
    pub(super) fn end(&self, run: RunId, delay: &Delay) {
        // If this one was cancelled, a later one has taken its place.
        if !delay.0.is_cancelled() {
            self.waiting().remove(&run);
        }
    }

    /// The tasks that wait.
    pub(super) const fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// Ends all waits, and starts no more.
    pub(super) fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
    }
}

impl Delay {
    /// Sleeps towards a time; returns whether to look again then: not if the wait was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing was done.
    pub(super) async fn sleeps(&self, until: Timestamp) -> bool {
        let left = until.duration_since(Timestamp::now());
        if !left.is_positive() {
            return !self.0.is_cancelled();
        }
        tokio::select! {
            () = self.0.cancelled() => false,
            () = tokio::time::sleep(left.unsigned_abs().min(LOOK)) => true,
        }
    }
}
