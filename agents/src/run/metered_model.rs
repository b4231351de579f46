//! The run's model: counts what is used, and ends with the run's stop whatever the model does.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use routing_core::model::{
    Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply, TokenUsage,
};
use routing_core::{Outcome, StopScope};

/// How long a model may take to hand over its partial answer after an immediate stop. One that does
/// not watch its scope is dropped then, which closes its connection.
const GRACE: Duration = Duration::from_millis(250);

/// A model whose use is added up.
pub(crate) struct MeteredModel {
    inner: Arc<dyn LanguageModel>,
    usage: Mutex<TokenUsage>,
}

impl MeteredModel {
    pub(crate) fn new(inner: Arc<dyn LanguageModel>) -> Self {
        Self {
            inner,
            usage: Mutex::default(),
        }
    }

    /// What all calls have used, those that were interrupted or asked again included.
    pub(crate) fn usage(&self) -> TokenUsage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what was used.
    pub(crate) fn add(&self, used: TokenUsage) {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        *usage = usage.plus(used);
    }
}

#[async_trait]
impl LanguageModel for MeteredModel {
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
        let too_late = async {
            let reason = scope.stopped_now().await;
            tokio::time::sleep(GRACE).await;
            reason
        };
        let reply = tokio::select! {
            biased;
            reply = self.inner.call(call, scope) => reply?,
            reason = too_late => Outcome::Interrupted { reason, partial: PartialReply::default() },
        };
        match &reply {
            Outcome::Completed(reply) => self.add(reply.usage),
            Outcome::Interrupted { partial, .. } => self.add(partial.usage),
        }
        Ok(reply)
    }
}
