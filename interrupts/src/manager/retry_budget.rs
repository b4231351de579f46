//! How long failed store operations are retried for a run: until the tries are exhausted while it works, and for one
//! grace period in all once it was told to stop. The caller that stopped it waits for all that is still to be recorded,
//! and separate grace periods would add up.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use interrupt_router::RunId;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::recovery::{Backoff, Course, Recoverable};
use super::settings::ManagerSettings;
use super::shared::Shared;
use super::tree::Reach;

/// How long failed store operations are retried for one run.
pub(crate) struct RetryBudget {
    run: RunId,
    backoff: Backoff,
    /// How long all writes of a stop may be retried together; if absent, each is retried separately.
    grace: Option<Duration>,
    /// When the grace period ends, while the run was told to stop and the store fails its writes.
    ends: Mutex<Option<Instant>>,
    /// Cancelled when nothing about the run may be written any more.
    lost: CancellationToken,
}

impl RetryBudget {
    /// For a run that this process owns, until the run is lost.
    pub(crate) fn of_kept(run: RunId, settings: &ManagerSettings, lost: CancellationToken) -> Self {
        Self {
            grace: Some(settings.times.grace),
            lost,
            ..Self::of_unkept(run, settings)
        }
    }

    /// For a run that this process does not own: nothing here waits for it to stop.
    pub(crate) fn of_unkept(run: RunId, settings: &ManagerSettings) -> Self {
        Self {
            run,
            backoff: settings.backoff,
            grace: None,
            ends: Mutex::new(None),
            lost: CancellationToken::new(),
        }
    }

    /// Repeats a read until it succeeds, fails for good, or retrying ends.
    ///
    /// # Errors
    ///
    /// The last error.
    ///
    /// # Cancel safety
    ///
    /// As safe as what it does.
    pub(crate) async fn read<T, E, F>(
        &self,
        shared: &Shared,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, E>
    where
        E: Recoverable + std::fmt::Display,
        F: Future<Output = Result<T, E>>,
    {
        let mut failures = 0;
        loop {
            let began = Instant::now();
            let error = match attempt().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            failures += 1;
            if !error.is_recoverable() {
                return Err(error);
            }
            let course = self.backoff.course(&error, failures);
            tracing::warn!(run = %self.run, %error, failures, ?course, "the store has failed");
            if !self.waits(shared, began, course).await {
                return Err(error);
            }
        }
    }

    /// As [`RetryBudget::read`], for a write. Once a write has succeeded, the next failure gets a whole grace period again; a
    /// successful read does not do that, since a full disk can still be read.
    ///
    /// # Errors
    ///
    /// The last error.
    ///
    /// # Cancel safety
    ///
    /// As safe as what it does.
    pub(crate) async fn write<T, E, F>(
        &self,
        shared: &Shared,
        attempt: impl FnMut() -> F,
    ) -> Result<T, E>
    where
        E: Recoverable + std::fmt::Display,
        F: Future<Output = Result<T, E>>,
    {
        let written = self.read(shared, attempt).await;
        if written.is_ok() {
            *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        written
    }

    /// Waits before a retry, and returns whether to retry.
    async fn waits(&self, shared: &Shared, began: Instant, course: Course) -> bool {
        let scope = self
            .grace
            .and(shared.registry.known_scope(self.run, &Reach::Run));
        let planned = match course {
            Course::Retry { after } => Some(Instant::now() + after),
            Course::Stop => None,
        };
        let Some(scope) = scope else {
            return match planned {
                Some(planned) => self.sleeps(planned).await,
                None => false,
            };
        };
        let mut failing = began;
        if !scope.is_stopping() {
            let Some(planned) = planned else {
                return false;
            };
            tokio::select! {
                again = self.sleeps(planned) => return again,
                _reason = scope.stopping() => failing = Instant::now(),
            }
        }
        let ends = self.ends_after(failing);
        if ends <= Instant::now() {
            return false;
        }
        // Within the grace period retries go on to its end, since space may become free.
        let next = planned.unwrap_or_else(|| Instant::now() + self.backoff.longest);
        self.sleeps(next.min(ends)).await
    }

    /// When retries end for a run that was told to stop, with a store that has been failing since `failing`.
    fn ends_after(&self, failing: Instant) -> Instant {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        *ends.get_or_insert_with(|| failing + self.grace.unwrap_or_default())
    }

    /// Sleeps, and returns whether the run was not lost meanwhile.
    async fn sleeps(&self, until: Instant) -> bool {
        tokio::select! {
            () = sleep_until(until) => true,
            () = self.lost.cancelled() => false,
        }
    }
}
