//! Calls that are paid for: reserved before they are made, settled when they have ended.

use async_trait::async_trait;
use interrupt_router::model::{
    LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TurnForm,
};
use interrupt_router::schema::Dialect;
use interrupt_router::{Outcome, StopReason, StopScope};

use crate::chat::{ChatCall, ChatModel, ChatOutcome, ChatUsage, EstimationMethod};
use crate::port::{Chat, Ended, Language, Port, Speaks, not_sent};

/// What pays for calls. An implementation knows prices and limits.
#[async_trait]
pub trait Charge: Send + Sync {
    /// Reserves for a call of the named model that reads about so many tokens. Waits while other calls have reserved
    /// what may be freed again.
    ///
    /// # Errors
    ///
    /// The reason to stop where nothing more may be spent. The call is not made then, and ends as
    /// interrupted.
    ///
    /// # Cancel safety
    ///
    /// Must be safe: dropped before it returns, nothing is reserved.
    async fn reserve(&self, model: &str, input: u64) -> Result<Box<dyn Reserved>, StopReason>;
}

/// What was reserved for a call. Dropped without being settled, as with the future of its call, it must be charged
/// whole, because its real cost is unknown.
pub trait Reserved: Send {
    /// Charges what the call used, and frees the rest.
    fn settle(self: Box<Self>, usage: ChatUsage);
}

/// A model whose calls are paid for. Belongs below [`Retrying`](crate::Retrying) and
/// [`Fallback`](crate::Fallback), so that each try is paid for.
#[derive(Debug, Clone)]
pub struct Charged<M, C> {
    inner: M,
    charge: C,
}

impl<M, C: Charge> Charged<M, C> {
    /// Pays the calls of `inner`.
    pub fn new(inner: M, charge: C) -> Self {
        Self { inner, charge }
    }

    async fn paid<P: Port>(&self, call: P::Call, scope: &StopScope) -> Ended<P>
    where
        M: Speaks<P>,
    {
        let input = EstimationMethod::QuarterOfCharacters.of_characters(P::reads(&call));
        let reserved = tokio::select! {
            biased;
            reason = scope.stopped_now() => return not_sent::<P>(reason),
            reserved = self.charge.reserve(self.inner.title(), input) => reserved,
        };
        let reserved = match reserved {
            Ok(reserved) => reserved,
            Err(reason) => return not_sent::<P>(reason),
        };
        let ended = self.inner.run(call.clone(), scope).await;
        reserved.settle(match &ended {
            Ok(Outcome::Completed(reply)) => P::usage_of_whole(&call, reply),
            Ok(Outcome::Interrupted { partial, .. }) => P::usage_of_partial(&call, partial),
            Err(error) => usage_of_failure(error),
        });
        ended
    }
}

/// Whether a provider may have begun an answer before the failure: a provider that fails may do so in the midst of one.
pub(crate) const fn may_have_cost(error: &ModelError) -> bool {
    !error.is_free() || matches!(error, ModelError::ProviderFailed { .. })
}

/// What a failed call used: nothing if no provider took it, else it is not known.
fn usage_of_failure(error: &ModelError) -> ChatUsage {
    if may_have_cost(error) {
        ChatUsage::default()
    } else {
        ChatUsage::NOTHING_SENT
    }
}

#[async_trait]
impl<M: ChatModel, C: Charge> ChatModel for Charged<M, C> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn chat(&self, call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        self.paid::<Chat>(call, scope).await
    }
}

#[async_trait]
impl<M: LanguageModel, C: Charge> LanguageModel for Charged<M, C> {
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
        self.paid::<Language>(call, scope).await
    }
}
