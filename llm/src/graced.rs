//! A limit to graceful stops: what is not over by then is stopped at once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use routing_core::model::{
    LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TurnForm,
};
use routing_core::schema::Dialect;
use routing_core::{Clock, Outcome, StopMode, StopReason, StopScope, StopSource};

use crate::chat::{ChatCall, ChatModel, ChatOutcome};
use crate::port::{Chat, Ended, Language, Port, Speaks};

/// A model whose calls delay a graceful stop for only so long: a call still under way then is interrupted, as by an
/// immediate stop.
#[derive(Clone)]
pub struct Graced<M> {
    inner: M,
    grace: Duration,
    clock: Arc<dyn Clock>,
}

impl<M> Graced<M> {
    /// Limits graceful stops of the calls of `inner`; the clock says when the stop became immediate.
    pub fn new(inner: M, grace: Duration, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner,
            grace,
            clock,
        }
    }

    async fn within_grace<P: Port>(&self, call: P::Call, scope: &StopScope) -> Ended<P>
    where
        M: Speaks<P>,
    {
        let call_scope = scope.child();
        let call = self.inner.run(call, &call_scope);
        tokio::pin!(call);
        let graceful = tokio::select! {
            biased;
            reason = self.grace_is_over(scope) => reason,
            ended = &mut call => return ended,
        };
        call_scope.stop(StopReason {
            source: StopSource::System,
            mode: StopMode::Immediate,
            message: format!(
                "the answer was not whole within {:?} of the stop ({})",
                self.grace, graceful.message
            ),
            timestamp: self.clock.now(),
        });
        call.await
    }

    async fn grace_is_over(&self, scope: &StopScope) -> StopReason {
        let reason = scope.stopping().await;
        tokio::time::sleep(self.grace).await;
        reason
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Graced<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        self.within_grace::<Chat>(call, scope).await
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Graced<M> {
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
        self.within_grace::<Language>(call, scope).await
    }
}
