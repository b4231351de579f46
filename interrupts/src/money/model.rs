//! A language model whose calls are paid from a budget.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, TurnForm,
};
use interrupt_router::{Outcome, StopScope};

use super::budget::{Budget, BudgetRefusal};
use super::price::{ModelPrice, NoPrice};
use super::reservation::Reservation;
use super::usage::Usage;

/// What is assumed of a call before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallBound {
    /// The bytes of a token that is read. With 1 no call reads more than was reserved for it; ordinary text has
    /// about 4.
    pub bytes_of_a_token: NonZeroU32,
    /// The most tokens of an answer.
    pub longest_answer: u64,
}

impl Default for CallBound {
    /// 3 bytes for a token, 8,192 tokens for an answer.
    fn default() -> Self {
        Self {
            bytes_of_a_token: NonZeroU32::MIN.saturating_add(2),
            longest_answer: 8_192,
        }
    }
}

impl CallBound {
    /// The estimated tokens of so many bytes.
    pub fn tokens(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.bytes_of_a_token.get()))
    }

    /// The most tokens that a call is estimated to read, of so many messages, the schema counted as one, that have so
    /// many bytes together.
    pub fn input(&self, messages: u64, bytes: u64) -> u64 {
        // Each message may end within a token.
        let around = messages.saturating_mul(TOKENS_AROUND_A_MESSAGE + 1);
        self.tokens(bytes).saturating_add(around)
    }
}

/// The tokens that a provider adds to each message, and to the schema.
const TOKENS_AROUND_A_MESSAGE: u64 = 16;

/// A model whose calls are paid from a budget. A call that the budget does not allow is interrupted before it
/// begins; the budget has asked for a stop then.
pub struct BudgetedModel {
    inner: Arc<dyn LanguageModel>,
    budget: Budget,
    price: ModelPrice,
    bound: CallBound,
}

impl BudgetedModel {
    /// Pays the calls of `inner` from `budget`.
    ///
    /// # Errors
    ///
    /// [`NoPrice`] if the model's name is not in the table of prices.
    pub fn new(
        inner: Arc<dyn LanguageModel>,
        budget: Budget,
        bound: CallBound,
    ) -> Result<Self, NoPrice> {
        let price = budget.price(inner.name())?;
        Ok(Self {
            inner,
            budget,
            price,
            bound,
        })
    }

    /// The estimated tokens that a call reads.
    fn input_of(&self, call: &ModelCall) -> u64 {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.bound
            .input(count(call.messages.len() + 1), count(call.bytes()))
    }

    fn tokens(&self, bytes: usize) -> u64 {
        self.bound.tokens(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    async fn reserve(&self, input: u64) -> Result<Reservation, BudgetRefusal> {
        self.budget
            .wait_for(self.price, input, self.bound.longest_answer)
            .await
    }
}

#[async_trait]
impl LanguageModel for BudgetedModel {
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
        let input = self.input_of(&call);
        let reserved = tokio::select! {
            biased;
            reason = scope.stopped_now() => return Ok(nothing_sent(reason)),
            reserved = self.reserve(input) => reserved,
        };
        let reservation = match reserved {
            Ok(reservation) => reservation,
            Err(BudgetRefusal::Spent(reached)) => return Ok(nothing_sent(reached.reason())),
            Err(refusal @ (BudgetRefusal::Busy | BudgetRefusal::NoPrice(_))) => {
                // The price was looked up before, and a caller that waits is never told `Busy`.
                return Err(ModelError::Malformed {
                    detail: refusal.to_string(),
                });
            }
        };
        let answered = self.inner.call(call, scope).await;
        let usage = match &answered {
            Ok(Outcome::Completed(reply)) => {
                Usage::reported_or_estimated(reply.usage, input, self.tokens(reply.bytes()))
            }
            Ok(Outcome::Interrupted { partial, .. }) => {
                Usage::reported_or_estimated(partial.usage, input, self.tokens(partial.bytes()))
            }
            Err(error) => Usage::of_failure(error),
        };
        reservation.settle(usage);
        answered
    }
}

fn nothing_sent(reason: interrupt_router::StopReason) -> Outcome<ModelReply, PartialReply> {
    Outcome::Interrupted {
        reason,
        partial: PartialReply::never_made(),
    }
}
