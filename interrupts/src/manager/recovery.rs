//! System errors: which are recoverable, and how long to wait before a retry.

use std::future::Future;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};

use crate::store::{
    AdmitError, ChangeError, CheckpointError, JournalError, MessageError, RunError, StoreError,
    TogetherError,
};

/// Whether trying again may help.
pub trait Recoverable {
    /// Whether trying again may help.
    fn is_recoverable(&self) -> bool;
}

impl Recoverable for StoreError {
    fn is_recoverable(&self) -> bool {
        match self {
            // Space may be freed, a lock released, a server may come back.
            Self::Full | Self::Locked | Self::Unreachable { .. } | Self::Unavailable { .. } => true,
            Self::ReadOnly
            | Self::InvalidValue { .. }
            | Self::Corrupt { .. }
            | Self::DamagedRow { .. }
            | Self::DamagedCheckpoint { .. }
            | Self::Foreign
            | Self::Newer { .. }
            | Self::EngineTooOld { .. }
            | Self::NotDurable { .. }
            | Self::Gone { .. }
            | Self::Closed => false,
        }
    }
}

macro_rules! recoverable_with_the_store {
    ($($error:ident)*) => {$(
        impl Recoverable for $error {
            fn is_recoverable(&self) -> bool {
                matches!(self, Self::Store(error) if error.is_recoverable())
            }
        }
    )*};
}

recoverable_with_the_store! { AdmitError ChangeError CheckpointError JournalError MessageError RunError TogetherError }

/// How often a failed operation is retried, and how long to wait before each retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The wait before the second try. Each further wait is twice as long.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// The most tries after the first one.
    pub most: u32,
}

impl Default for Backoff {
    /// 50 ms, doubled up to 5 s, eight times.
    fn default() -> Self {
        Self {
            first: Duration::from_millis(50),
            longest: Duration::from_secs(5),
            most: 8,
        }
    }
}

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// Try again after a wait.
    Retry {
        /// How long to wait.
        after: Duration,
    },
    /// Stop, and keep what is known of the error.
    Stop,
}

impl Backoff {
    /// What to do after the `failures`-th failure in a row.
    pub fn course(&self, error: &dyn Recoverable, failures: u32) -> Course {
        if !error.is_recoverable() {
            return Course::Stop;
        }
        match self.wait(failures) {
            Some(after) => Course::Retry { after },
            None => Course::Stop,
        }
    }

    /// The wait after the `failures`-th failure in a row; `None` if all tries are exhausted.
    pub fn wait(&self, failures: u32) -> Option<Duration> {
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let nth = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
        ExponentialBuilder::default()
            .with_min_delay(self.first)
            .with_max_delay(self.longest)
            .with_max_times(most)
            .build()
            .nth(nth)
    }

    /// Repeats an operation until it succeeds, fails for good, or all tries are exhausted.
    ///
    /// # Errors
    ///
    /// The last error.
    ///
    /// # Cancel safety
    ///
    /// As safe as `attempt`.
    pub async fn recover<T, E, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, E>
    where
        E: Recoverable + std::fmt::Display,
        F: Future<Output = Result<T, E>>,
    {
        let mut failures = 0;
        loop {
            let error = match attempt().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            failures += 1;
            match self.course(&error, failures) {
                Course::Retry { after } => {
                    tracing::warn!(%error, failures, ?after, "trying again");
                    tokio::time::sleep(after).await;
                }
                Course::Stop => return Err(error),
            }
        }
    }
}
