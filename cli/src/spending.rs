//! What may be spent: an amount, and the prices of models.

use std::sync::Arc;

use engine::run::{CallUse, TryEnd};
use interrupt_router::model::{LanguageModel, TokenUsage};
use interrupts::SystemClock;
use interrupts::limits::{LimitReached, LimitWarning, StopSink};
use interrupts::money::{
    Budget, BudgetConfig, BudgetedModel, CallBound, ModelPrice, Money, NoPrice, PriceTable, Usage,
};
use journal::{BudgetOrder, Prompt};

use crate::arguments::BudgetArguments;
use crate::exit::{Exit, Failure};
use crate::model::OpenedModel;

/// What may be spent.
#[derive(Debug, Clone)]
pub(crate) struct Spending {
    /// The limit.
    pub(crate) limit: Money,
    /// What models cost.
    pub(crate) prices: PriceTable,
}

impl Spending {
    /// As the command line says; `None` if it sets no limit.
    ///
    /// # Errors
    ///
    /// A usage failure if the prices or the amount cannot be read.
    pub(crate) fn of(arguments: &BudgetArguments) -> Result<Option<Self>, Failure> {
        match order(arguments, None)? {
            Some(order) => Self::ordered(&order).map(Some),
            None => Ok(None),
        }
    }

    /// As a run keeps it.
    ///
    /// # Errors
    ///
    /// As [`Spending::of`].
    pub(crate) fn ordered(order: &BudgetOrder) -> Result<Self, Failure> {
        Ok(Self {
            limit: amount(&order.limit)?,
            prices: read_prices(&order.prices)?,
        })
    }

    /// What each of the models costs.
    ///
    /// # Errors
    ///
    /// A usage failure if one of them has no price.
    pub(crate) fn prices_of(&self, model: &OpenedModel) -> Result<Vec<ModelPrice>, Failure> {
        let prices = model.names().map(|name| self.prices.price(name));
        let prices: Result<_, NoPrice> = prices.collect();
        prices.map_err(|error| no_price(&error))
    }

    /// The budget of the calls to a model; what they have cost before counts.
    ///
    /// # Errors
    ///
    /// A usage failure if the model has no price.
    pub(crate) fn budget(
        self,
        model: &OpenedModel,
        calls: &[CallUse],
        sink: Arc<dyn StopSink>,
    ) -> Result<Budget, Failure> {
        let of_models = self.prices_of(model)?;
        let Self { limit, prices } = self;
        Ok(Budget::new(BudgetConfig {
            limit,
            spent: spent(calls, &of_models, CallBound::default()),
            warn_at: 80,
            prices,
            sink,
            clock: Arc::new(SystemClock),
        }))
    }
}

/// The command line's budget, as a run keeps it: without prices of its own, those that the run has.
///
/// # Errors
///
/// A usage failure if the prices cannot be read.
pub(crate) fn order(
    arguments: &BudgetArguments,
    kept: Option<&BudgetOrder>,
) -> Result<Option<BudgetOrder>, Failure> {
    let Some(limit) = arguments.budget_usd.clone() else {
        if arguments.prices.is_some() {
            let text = "--prices: prices are for a budget, and there is none";
            return Err(Failure::new(Exit::Usage, text)
                .hint("say how much may be spent: --budget-usd 0.50"));
        }
        return Ok(None);
    };
    let prices = match prices_text(arguments)? {
        Some(prices) => prices,
        None => kept.map(|kept| kept.prices.clone()).unwrap_or_default(),
    };
    Ok(Some(BudgetOrder { limit, prices }))
}

/// What the calls of a run have cost by now. If the provider did not say, it is an estimate; if that is unknown, for
/// the process died or the connection broke, it is the most that the call may have cost. Where a call may have been to
/// any of several models, it was to the one that costs the most.
fn spent(calls: &[CallUse], prices: &[ModelPrice], bound: CallBound) -> Money {
    let cost = |call: &CallUse| {
        let Prompt { messages, bytes } = call.prompt;
        let input = bound.input(u64::from(messages), bytes);
        let nothing_said = call.usage == TokenUsage::default();
        let usage = match call.end {
            TryEnd::NotBilled => Usage::NOT_BILLED,
            TryEnd::Unknown => Usage::UNKNOWN,
            TryEnd::CutShort if nothing_said && call.answer_bytes == 0 => Usage::UNKNOWN,
            TryEnd::CutShort | TryEnd::Answered => {
                let output = bound.tokens(call.answer_bytes);
                Usage::reported_or_estimated(call.usage, input, output)
            }
        };
        let costs = prices
            .iter()
            .map(|price| price.cost(&usage, input, bound.longest_answer));
        costs.max().unwrap_or(Money::ZERO)
    };
    calls.iter().map(cost).fold(Money::ZERO, Money::plus)
}

/// The model, its calls paid from the budget.
///
/// # Errors
///
/// A usage failure if it has no price.
pub(crate) fn paying(
    model: Arc<dyn LanguageModel>,
    budget: Budget,
) -> Result<Arc<dyn LanguageModel>, Failure> {
    let paid = BudgetedModel::new(model, budget, CallBound::default());
    Ok(Arc::new(paid.map_err(|error| no_price(&error))?))
}

/// Where the call that is refused says so, and nothing else has to stop.
pub(crate) struct RefusedCallSays;

impl StopSink for RefusedCallSays {
    fn stop(&self, reached: LimitReached) {
        tracing::info!(reached.message, "no further call is paid for");
    }

    fn warn(&self, warning: LimitWarning) {
        tracing::warn!(warning.message, "near the limit");
    }
}

/// The failure if a model has no price.
fn no_price(error: &NoPrice) -> Failure {
    Failure::new(Exit::Usage, format!("--budget-usd: {error}"))
        .hint("give its price with --prices FILE; docs/policies.md shows one")
}

/// Reads an amount in dollars.
///
/// # Errors
///
/// A usage failure if it is none.
pub(crate) fn amount(text: &str) -> Result<Money, Failure> {
    text.parse().map_err(|error| {
        Failure::new(Exit::Usage, format!("--budget-usd: {error}"))
            .hint("write an amount in dollars: 0.50")
    })
}

/// The prices that the command line names; the rehearsal is free if they do not list it.
///
/// # Errors
///
/// If they cannot be read.
pub(crate) fn prices(arguments: &BudgetArguments) -> Result<PriceTable, Failure> {
    read_prices(&prices_text(arguments)?.unwrap_or_default())
}

fn prices_text(arguments: &BudgetArguments) -> Result<Option<String>, Failure> {
    let Some(path) = &arguments.prices else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let text = format!("the prices {} cannot be read: {error}", path.display());
        Failure::new(Exit::NotFound, text)
    })?;
    Ok(Some(text))
}

fn read_prices(text: &str) -> Result<PriceTable, Failure> {
    let table = if text.is_empty() {
        PriceTable::new("USD")
    } else {
        PriceTable::from_toml(text).map_err(|error| {
            Failure::new(Exit::Usage, format!("the prices cannot be used: {error}"))
        })?
    };
    // The rehearsal is free, unless the user rehearses a budget.
    Ok(match table.price("rehearsal") {
        Ok(_priced) => table,
        Err(_free) => table.with("rehearsal", ModelPrice::FREE),
    })
}
