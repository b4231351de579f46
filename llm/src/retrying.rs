//! Trying again what may succeed the next time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBuilder};
use routing_core::model::{
    ChunkSink, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use routing_core::schema::Dialect;
use routing_core::{Outcome, StopScope};

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

/// A model whose transient failures are tried again.
///
/// A wait that the provider asks for is kept to; where it is longer than the policy allows, the error
/// is returned at once. An interruption is never retried, and ends a wait at once. A call is also
/// tried again after pieces of its answer have been passed on: the sink is told by
/// [`ChunkSink::restarted`] before the first piece of the new try, and only the whole answer of the
/// last try is returned.
#[derive(Debug, Clone)]
pub struct Retrying<M> {
    inner: M,
    policy: RetryPolicy,
}

impl<M> Retrying<M> {
    /// Retries the calls of `inner`.
    pub fn new(inner: M, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Retrying<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    async fn call(
        &self,
        mut call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let mut backoff = ExponentialBuilder::default()
            .with_min_delay(self.policy.first_wait)
            .with_jitter()
            .with_max_times(self.policy.tries.saturating_sub(1))
            .build();
        let mut left = self.policy.waits_in_all;
        let sink = call.chunks.take().map(|inner| {
            Arc::new(RestartingSink {
                inner,
                spoke: AtomicBool::new(false),
                restarts: AtomicBool::new(false),
            })
        });
        loop {
            let mut attempt = call.clone();
            attempt.chunks = sink
                .as_ref()
                .map(|sink| Arc::clone(sink) as Arc<dyn ChunkSink>);
            let error = match self.inner.call(attempt, scope).await {
                Err(error) if error.is_transient() => error,
                other => return other,
            };
            let Some(wait) = backoff
                .next()
                .map(|wait| wait.max(asked_for(&error)))
                .filter(|wait| *wait <= left)
            else {
                return Err(error);
            };
            left = left.saturating_sub(wait);
            tracing::info!(
                model = self.inner.name(),
                node = call.caller.node.as_str(),
                ?wait,
                %error,
                "trying again"
            );
            tokio::select! {
                biased;
                reason = scope.stopped_now() => {
                    let partial = PartialReply::default();
                    return Ok(Outcome::Interrupted { reason, partial });
                }
                () = tokio::time::sleep(wait) => {}
            }
            if let Some(sink) = &sink {
                sink.restart();
            }
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

/// Tells the caller's sink that an answer starts again, once something of the new one arrives.
struct RestartingSink {
    inner: Arc<dyn ChunkSink>,
    spoke: AtomicBool,
    restarts: AtomicBool,
}

impl RestartingSink {
    fn restart(&self) {
        if self.spoke.load(Ordering::Relaxed) {
            self.restarts.store(true, Ordering::Relaxed);
        }
    }
}

impl ChunkSink for RestartingSink {
    fn chunk(&self, text: &str) {
        self.spoke.store(true, Ordering::Relaxed);
        if self.restarts.swap(false, Ordering::Relaxed) {
            self.inner.restarted();
        }
        self.inner.chunk(text);
    }

    fn restarted(&self) {
        self.inner.restarted();
    }
}
