//! Trying again what may succeed the next time.

mod restarting;
mod waits;

use std::sync::Arc;

use async_trait::async_trait;
use routing_core::model::{
    ChunkSink, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use routing_core::schema::Dialect;
use routing_core::{Outcome, StopScope};
use tracing::Instrument;

use crate::chat::{ChatCall, ChatModel, ChatOutcome};
use crate::port::{Chat, Ended, Language, Port, Speaks};

use waits::{Waited, Waits};

pub(crate) use restarting::RestartingSink;
pub use waits::RetryPolicy;

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

impl<M> Retrying<M> {
    /// All tries of a call, below one span.
    async fn until_answered<P: Port>(&self, call: P::Call, scope: &StopScope) -> Ended<P>
    where
        M: Speaks<P>,
    {
        let span = tracing::info_span!("irq.model.tries", model = self.inner.title());
        self.tried::<P>(call, scope).instrument(span).await
    }

    async fn tried<P: Port>(&self, mut call: P::Call, scope: &StopScope) -> Ended<P>
    where
        M: Speaks<P>,
    {
        let sink = RestartingSink::around(P::chunks(&mut call).take());
        *P::chunks(&mut call) = Some(Arc::clone(&sink) as Arc<dyn ChunkSink>);
        let mut waits = Waits::new(self.policy);
        loop {
            let error = match self.inner.run(call.clone(), scope).await {
                Err(error) if error.is_transient() => error,
                other => return other.map(|outcome| sink.kept_in::<P>(outcome)),
            };
            match waits.after(error, self.inner.title(), scope).await? {
                Waited::Over => sink.restart(),
                Waited::Stopped(reason) => {
                    let partial = P::between_tries(sink.said());
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

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.until_answered::<Language>(call, scope).await
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Retrying<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        self.until_answered::<Chat>(call, scope).await
    }
}
