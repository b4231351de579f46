//! A time limit for each call.

use std::time::Duration;

use async_trait::async_trait;
use routing_core::StopScope;
use routing_core::model::ModelError;

use crate::chat::{ChatCall, ChatModel, ChatOutcome};

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

#[async_trait]
impl<M: ChatModel> ChatModel for Deadlined<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        let limit = self.limit;
        tokio::time::timeout(limit, self.inner.chat(call, scope))
            .await
            .unwrap_or(Err(ModelError::TimedOut { limit }))
    }
}
