//! Runs that go on by themselves: what a policy ends after some time is ended then, while the server is there.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use routing_core::RunId;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The longest sleep: a clock that was set forward is noticed then.
const LOOK: Duration = Duration::from_secs(30);

/// The runs that are waited for.
#[derive(Default)]
pub(super) struct Delays {
    waiting: Mutex<HashMap<RunId, CancellationToken>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// One waiting for a run.
pub(super) struct Delay(CancellationToken);

impl Delays {
    fn waiting(&self) -> MutexGuard<'_, HashMap<RunId, CancellationToken>> {
        // A whole value is put in or out, so a panic elsewhere leaves it whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The waiting for a run. One that had begun before sleeps no longer: it knew less.
    pub(super) fn begin(&self, run: RunId) -> Delay {
        let delay = self.stop.child_token();
        if let Some(earlier) = self.waiting().insert(run, delay.clone()) {
            earlier.cancel();
        }
        Delay(delay)
    }

    /// Forgets a waiting that is over.
    pub(super) fn end(&self, run: RunId, delay: &Delay) {
        // A later one has taken its place where this one was cancelled.
        if !delay.0.is_cancelled() {
            self.waiting().remove(&run);
        }
    }

    /// The tasks that wait.
    pub(super) const fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// Nothing is waited for any more.
    pub(super) fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
    }
}

impl Delay {
    /// Sleeps towards a time, and says whether somebody is to look again then: not where it was given up.
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
