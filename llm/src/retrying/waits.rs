//! How often, and how long, to wait between two tries.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use interrupt_router::model::{CallNote, ChunkSink, ModelError};
use interrupt_router::{StopReason, StopScope};
use tokio::time::Instant;

/// How often, and how long, a failed call is tried again.
///
/// What a provider refuses without doing anything (too many requests, a fault of its own) costs nothing, so that is
/// bounded by time: an outage is survived that ends within the budget. What may have cost something each time, an answer
/// that breaks off or does not come in time, is bounded by a number as well; and so is a server that has never
/// answered: its address is more likely wrong than the server away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How many tries there are in all, the first one included, where each may cost something, or where the server has
    /// never answered.
    pub tries: usize,
    /// How long to wait before the second try; each later one is three times as long, and each is lengthened at random.
    pub first_wait: Duration,
    /// The longest wait that is chosen here. A provider may ask for a longer one.
    pub longest_wait: Duration,
    /// How long a call is tried again, from its first failure on. A wait that would end later is not begun.
    pub budget: Duration,
}

impl Default for RetryPolicy {
    /// Five minutes, with waits from half a second to 20 seconds; three tries of what may cost something.
    fn default() -> Self {
        Self {
            tries: 3,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
            budget: Duration::from_secs(300),
        }
    }
}

/// The waits of one call.
pub(super) struct RetryWaits {
    policy: RetryPolicy,
    backoff: ExponentialBackoff,
    /// When the call failed first.
    since: Option<Instant>,
    /// How many tries have failed whose number is bounded.
    counted: usize,
}

/// How a wait ended.
pub(super) enum Waited {
    /// The next try may begin.
    Over,
    /// There is no next try.
    Stopped(StopReason),
}

impl RetryWaits {
    pub(super) fn new(policy: RetryPolicy) -> Self {
        Self {
            policy,
            backoff: ExponentialBuilder::default()
                .with_min_delay(policy.first_wait)
                .with_max_delay(policy.longest_wait)
                // However they are lengthened, each is longer than the one before.
                .with_factor(3.0)
                .with_jitter()
                .without_max_times()
                .build(),
            since: None,
            counted: 0,
        }
    }

    /// Waits after a failure, of a server that has answered before or not; gives it back where there is no next try.
    pub(super) async fn after(
        &mut self,
        error: ModelError,
        has_answered: bool,
        sink: &dyn ChunkSink,
        scope: &StopScope,
    ) -> Result<Waited, ModelError> {
        let Some(wait) = self.next(&error, has_answered) else {
            return Err(error);
        };
        tracing::info!(?wait, %error, "trying again");
        sink.noted(&CallNote::Waits {
            why: in_words(&error),
            wait,
        });
        let waited = tokio::select! {
            biased;
            reason = scope.stopped_now() => Waited::Stopped(reason),
            () = tokio::time::sleep(wait) => Waited::Over,
        };
        sink.noted(&CallNote::GoesOn);
        Ok(waited)
    }

    /// The next wait; `None` where there is none.
    fn next(&mut self, error: &ModelError, has_answered: bool) -> Option<Duration> {
        let is_away = matches!(error, ModelError::Unreachable { .. });
        if !error.is_free() || (is_away && !has_answered) {
            self.counted += 1;
        }
        if self.counted >= self.policy.tries {
            return None;
        }
        let spent = self.since.get_or_insert_with(Instant::now).elapsed();
        let asked_for = error.retry_after().unwrap_or_default();
        let wait = self.backoff.next()?.max(asked_for);
        (spent.saturating_add(wait) <= self.policy.budget).then_some(wait)
    }
}

/// What happened, in a few words.
fn in_words(error: &ModelError) -> String {
    if let ModelError::RateLimited { .. } = error {
        "rate limited".to_owned()
    } else if let ModelError::ProviderFailed { status, .. } = error {
        format!("the provider cannot answer now ({status})")
    } else if let ModelError::BrokenOff { .. } = error {
        "the answer broke off".to_owned()
    } else if let ModelError::EndedWith { .. } = error {
        "the provider gave the answer up".to_owned()
    } else if let ModelError::TimedOut { .. } = error {
        "no answer came in time".to_owned()
    } else {
        "the model's server cannot be reached".to_owned()
    }
}
