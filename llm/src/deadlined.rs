//! A time limit for each call.

use std::time::Duration;

use async_trait::async_trait;
use routing_core::model::{
    Awaited, LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TurnForm,
};
use routing_core::schema::Dialect;
use routing_core::{Outcome, StopScope};

use crate::chat::{ChatCall, ChatModel, ChatOutcome};
use crate::port::{Chat, Ended, Language, Port, Speaks};

/// A model whose calls, retries and all, end within a limit. A call that does not is dropped, which closes
/// its connection, and fails as [`ModelError::TimedOut`].
#[derive(Debug, Clone)]
pub struct Deadlined<M> {
    inner: M,
    limit: Duration,
}

impl<M> Deadlined<M> {
    /// Limits the calls of `inner`.
    pub fn new(inner: M, limit: Duration) -> Self {
        Self { inner, limit }
    }
}

impl<M> Deadlined<M> {
    async fn in_time<P: Port>(&self, call: P::Call, scope: &StopScope) -> Ended<P>
    where
        M: Speaks<P>,
    {
        let limit = self.limit;
        tokio::time::timeout(limit, self.inner.run(call, scope))
            .await
            .unwrap_or(Err(ModelError::TimedOut {
                limit,
                awaited: Awaited::Whole,
            }))
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Deadlined<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        self.in_time::<Chat>(call, scope).await
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Deadlined<M> {
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
        self.in_time::<Language>(call, scope).await
    }
}
