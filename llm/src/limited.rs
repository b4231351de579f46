//! A limit to how many calls are under way at once.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use routing_core::model::{
    LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TurnForm,
};
use routing_core::schema::Dialect;
use routing_core::{Outcome, StopScope};
use tokio::sync::Semaphore;

use crate::chat::{ChatCall, ChatModel, ChatOutcome};
use crate::port::{Chat, Ended, Language, Port, Speaks, not_sent};

/// A model of which only so many calls are under way at once; others wait for their turn, in order. An
/// interrupt ends the wait of a call at once. Clones share the limit.
#[derive(Debug, Clone)]
pub struct Limited<M> {
    inner: M,
    turns: Arc<Semaphore>,
}

impl<M> Limited<M> {
    /// Limits the calls of `inner`.
    pub fn new(inner: M, at_once: NonZeroUsize) -> Self {
        let most = at_once.get().min(Semaphore::MAX_PERMITS);
        Self {
            inner,
            turns: Arc::new(Semaphore::new(most)),
        }
    }
}

impl<M> Limited<M> {
    async fn in_turn<P: Port>(&self, call: P::Call, scope: &StopScope) -> Ended<P>
    where
        M: Speaks<P>,
    {
        let _turn = tokio::select! {
            biased;
            reason = scope.stopped_now() => return not_sent::<P>(reason),
            turn = self.turns.acquire() => turn,
        };
        self.inner.run(call, scope).await
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Limited<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        self.in_turn::<Chat>(call, scope).await
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Limited<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn turn_form(&self, caller: &ModelCaller) -> TurnForm {
        self.inner.turn_form(caller)
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.in_turn::<Language>(call, scope).await
    }
}
