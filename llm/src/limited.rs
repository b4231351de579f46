//! A limit to how many calls are under way at once.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use routing_core::StopScope;
use routing_core::model::ModelError;
use tokio::sync::Semaphore;

use crate::chat::{ChatCall, ChatModel, ChatOutcome, ChatPartial};

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

#[async_trait]
impl<M: ChatModel> ChatModel for Limited<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        let _turn = tokio::select! {
            biased;
            reason = scope.stopped_now() => {
                return Ok(ChatPartial::nothing_sent().interrupted(reason));
            }
            turn = self.turns.acquire() => turn,
        };
        self.inner.chat(call, scope).await
    }
}
