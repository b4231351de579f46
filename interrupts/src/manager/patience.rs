//! How long what the store refuses is tried again for a run: as long as its tries last while it works, and for one
//! grace in all once it was told to stop. Whoever stopped it waits for all that is still to be recorded, and each of
//! it by itself would take its time anew.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use routing_core::RunId;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::recovery::{Backoff, Course, Recoverable};
use super::settings::ManagerSettings;
use super::shared::Shared;
use super::tree::Reach;

/// How long the store's failures are tried again for one run.
pub(crate) struct Patience {
    run: RunId,
    backoff: Backoff,
    /// How long all that is written of a stop may be tried again together; absent, each for itself.
    grace: Option<Duration>,
    /// When that ends, while the store takes nothing of a run that was told to stop.
    ends: Mutex<Option<Instant>>,
    /// Nothing of the run is written any more.
    lost: CancellationToken,
}

impl Patience {
    /// That of a run which this process keeps, until it is lost.
    pub(crate) fn of_kept(run: RunId, settings: &ManagerSettings, lost: CancellationToken) -> Self {
        Self {
            grace: Some(settings.times.grace),
            lost,
            ..Self::of_unkept(run, settings)
        }
    }

    /// That of a run which nobody here keeps: nothing waits for it to stop.
    pub(crate) fn of_unkept(run: RunId, settings: &ManagerSettings) -> Self {
        Self {
            run,
            backoff: settings.backoff,
            grace: None,
            ends: Mutex::new(None),
            lost: CancellationToken::new(),
        }
    }

    /// Does something that only reads, until it succeeds, fails for good, or no more is to be tried.
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

    /// As [`Patience::read`], of something that writes. Once the store has taken it, the next failure has a whole grace
    /// again; that it can be read says nothing of that, for a full disk can.
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

    /// Waits before something is tried again that failed, and says whether it is to be.
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
        // Within the grace it is tried to the last, for there may be space again.
        let next = planned.unwrap_or_else(|| Instant::now() + self.backoff.longest);
        self.sleeps(next.min(ends)).await
    }

    /// When no more is tried, of a store that fails a run which was told to stop since then.
    fn ends_after(&self, failing: Instant) -> Instant {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        *ends.get_or_insert_with(|| failing + self.grace.unwrap_or_default())
    }

    /// Whether nothing was lost meanwhile.
    async fn sleeps(&self, until: Instant) -> bool {
        tokio::select! {
            () = sleep_until(until) => true,
            () = self.lost.cancelled() => false,
        }
    }
}
