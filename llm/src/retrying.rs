//! Trying again what may succeed the next time.

mod restarting;
mod waits;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use interrupt_router::model::{
    ChunkSink, LanguageModel, ModelCall, ModelCaller, ModelError, PartialReply, TurnForm,
};
use interrupt_router::schema::Dialect;
use interrupt_router::{Outcome, StopScope};
use tracing::Instrument;

use crate::Ended;

use waits::{RetryWaits, Waited};

pub(crate) use restarting::RestartingSink;
pub use waits::RetryPolicy;

/// A model whose transient failures are tried again.
///
/// A wait that the provider asks for is kept to; if it is longer than the policy allows, the error is returned at once.
/// [`ChunkSink::noted`] reports each wait. An interruption is never retried, and ends a wait at once. A call is also
/// retried after pieces of its answer have been passed on: the sink gets [`ChunkSink::restarted`] before the first
/// piece of the new try, and only the whole answer of the last try is returned.
#[derive(Debug, Clone)]
pub struct Retrying<M> {
    inner: M,
    policy: RetryPolicy,
    /// Whether the server has ever answered.
    has_answered: Arc<AtomicBool>,
}

impl<M> Retrying<M> {
    /// Retries the calls of `inner`.
    pub fn new(inner: M, policy: RetryPolicy) -> Self {
        Self {
            inner,
            policy,
            has_answered: Arc::default(),
        }
    }
}

impl<M: LanguageModel> Retrying<M> {
    async fn tried(&self, mut call: ModelCall, scope: &StopScope) -> Ended {
        let sink = RestartingSink::around(call.chunks.take());
        call.chunks = Some(Arc::clone(&sink) as Arc<dyn ChunkSink>);
        let mut waits = RetryWaits::new(self.policy);
        loop {
            let ended = self.inner.call(call.clone(), scope).await;
            if !matches!(&ended, Err(ModelError::Unreachable { .. })) {
                self.has_answered.store(true, Ordering::Relaxed);
            }
            let error = match ended {
                Err(error) if error.is_transient() => error,
                other => return other.map(|outcome| sink.kept_in(outcome)),
            };
            let has_answered = self.has_answered.load(Ordering::Relaxed);
            match waits.after(error, has_answered, &*sink, scope).await? {
                Waited::Over => sink.restart(),
                Waited::Stopped(reason) => {
                    let partial = PartialReply::between_tries(sink.said());
                    return Ok(Outcome::Interrupted { reason, partial });
                }
            }
        }
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

    fn turn_form(&self, caller: &ModelCaller) -> TurnForm {
        self.inner.turn_form(caller)
    }

    /// All tries, below one span.
    async fn call(&self, call: ModelCall, scope: &StopScope) -> Ended {
        let span = tracing::info_span!("irq.model.tries", model = self.inner.name());
        self.tried(call, scope).instrument(span).await
    }
}
