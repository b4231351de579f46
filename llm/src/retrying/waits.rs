//! How often, and how long, to wait between two tries.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use routing_core::model::ModelError;
use routing_core::{StopReason, StopScope};

/// How often, and how long, a failed call is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How many tries there are in all, the first one included.
    pub tries: usize,
    /// How long to wait before the second try; later waits double, and each is lengthened at random.
    pub first_wait: Duration,
    /// The longest time that all waits of a call may take together.
    pub waits_in_all: Duration,
}

impl Default for RetryPolicy {
    /// Three tries, half a second before the second, a minute of waiting in all.
    fn default() -> Self {
        Self {
            tries: 3,
            first_wait: Duration::from_millis(500),
            waits_in_all: Duration::from_secs(60),
        }
    }
}

/// The waits of one call.
pub(super) struct Waits {
    backoff: ExponentialBackoff,
    left: Duration,
}

/// How a wait ended.
pub(super) enum Waited {
    /// The next try may begin.
    Over,
    /// There is no next try.
    Stopped(StopReason),
}

impl Waits {
    pub(super) fn new(policy: RetryPolicy) -> Self {
        Self {
            backoff: ExponentialBuilder::default()
                .with_min_delay(policy.first_wait)
                .with_jitter()
                .with_max_times(policy.tries.saturating_sub(1))
                .build(),
            left: policy.waits_in_all,
        }
    }

    /// Waits after a failure; gives it back where there is no next try.
    pub(super) async fn after(
        &mut self,
        error: ModelError,
        model: &str,
        scope: &StopScope,
    ) -> Result<Waited, ModelError> {
        let Some(wait) = self
            .backoff
            .next()
            .map(|wait| wait.max(asked_for(&error)))
            .filter(|wait| *wait <= self.left)
        else {
            return Err(error);
        };
        self.left = self.left.saturating_sub(wait);
        tracing::info!(model, ?wait, %error, "trying again");
        tokio::select! {
            biased;
            reason = scope.stopped_now() => Ok(Waited::Stopped(reason)),
            () = tokio::time::sleep(wait) => Ok(Waited::Over),
        }
    }
}

/// How long the provider asks to wait.
fn asked_for(error: &ModelError) -> Duration {
    if let ModelError::RateLimited { retry_after, .. } = error {
        return retry_after.unwrap_or_default();
    }
    Duration::ZERO
}
