//! What a conversation may cost.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::{StopMode, StopReason, StopSource};
use interrupts::SystemClock;
use interrupts::limits::{LimitReached, LimitWarning, StopSink};
use interrupts::money::{
    Budget, BudgetConfig, BudgetRefusal, Known, Money, PriceTable, Reservation, Usage,
};
use jiff::Timestamp;
use llm::{Charge, ChatUsage, Reserved, TokenCount};

use crate::arguments::BudgetArguments;
use crate::exit::Failure;
use crate::spending::{Spending, no_price};

/// The most tokens of an answer that are reserved for.
const LONGEST_ANSWER: u64 = 8_192;

/// Pays the calls of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct ChatBudget {
    budget: Budget,
}

impl ChatBudget {
    /// The budget of the command line, if it has one.
    ///
    /// # Errors
    ///
    /// A usage failure if it cannot be read, or the model has no price.
    pub(super) fn of(arguments: &BudgetArguments, model: &str) -> Result<Option<Self>, Failure> {
        let Some(Spending { limit, prices }) = Spending::of(arguments)? else {
            return Ok(None);
        };
        let budget = Self::new(limit, prices);
        budget
            .budget
            .price(model)
            .map_err(|error| no_price(&error))?;
        Ok(Some(budget))
    }

    fn new(limit: Money, prices: PriceTable) -> Self {
        Self {
            budget: Budget::new(BudgetConfig {
                limit,
                spent: Money::ZERO,
                warn_at: 80,
                prices,
                sink: Arc::new(ConversationStopSink),
                clock: Arc::new(SystemClock),
            }),
        }
    }
}

/// The refused call informs the conversation; nothing else has to stop.
struct ConversationStopSink;

impl StopSink for ConversationStopSink {
    fn stop(&self, reached: LimitReached) {
        tracing::info!(reached.message, "no further call is paid for");
    }

    fn warn(&self, warning: LimitWarning) {
        tracing::warn!(warning.message, "near the limit");
    }
}

#[async_trait]
impl Charge for ChatBudget {
    async fn reserve(&self, model: &str, input: u64) -> Result<Box<dyn Reserved>, StopReason> {
        let reserved = self.budget.reserve_when_free(model, input, LONGEST_ANSWER);
        match reserved.await {
            Ok(reservation) => Ok(Box::new(ChatReservation(reservation))),
            // The call is never made, so nothing is left to finish.
            Err(BudgetRefusal::Spent(reached)) => Err(StopReason {
                mode: StopMode::Immediate,
                ..reached.reason()
            }),
            Err(refusal) => Err(StopReason {
                source: StopSource::System,
                mode: StopMode::Immediate,
                message: refusal.to_string(),
                timestamp: Timestamp::now(),
            }),
        }
    }
}

/// What is held back for one call.
struct ChatReservation(Reservation);

impl Reserved for ChatReservation {
    fn settle(self: Box<Self>, usage: ChatUsage) {
        let _settlement = self.0.settle(Usage {
            input: known(usage.input),
            cached: 0,
            output: known(usage.output),
        });
    }
}

fn known(count: TokenCount) -> Known {
    match count {
        TokenCount::Unknown => Known::Unknown,
        TokenCount::NothingSent => Known::NotBilled,
        TokenCount::Reported(tokens) => Known::Reported(tokens),
        TokenCount::Estimated { tokens, .. } => Known::Estimated(tokens),
    }
}
