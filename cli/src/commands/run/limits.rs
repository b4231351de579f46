//! Limits that pause a run from outside: time and money.

use std::sync::Arc;
use std::time::Duration;

use interrupts::life::{Actor, Role};
use interrupts::limits::{LimitGuard, TimeLimit};
use interrupts::manager::{LimitStops, Target};
use interrupts::money::{
    Budget, BudgetConfig, BudgetedModel, CallBound, ModelPrice, Money, NoPrice, PriceTable,
};
use interrupts::{ActorName, NameError};
use routing_core::model::LanguageModel;
use routing_core::{StopMode, SystemClock};
use tokio::runtime::Handle;

use crate::arguments::LimitArguments;
use crate::exit::{Exit, Failure};
use crate::keep::Kept;

/// What pauses a run.
pub(in crate::commands) struct OuterLimits {
    timeout: Option<Duration>,
    budget: Option<(Money, PriceTable)>,
}

impl OuterLimits {
    /// What the command line says.
    ///
    /// # Errors
    ///
    /// A usage failure where the prices or the amount cannot be read.
    pub(in crate::commands) fn of(arguments: &LimitArguments) -> Result<Self, Failure> {
        let timeout = arguments.timeout.map(|limit| limit.unsigned_abs());
        let budget = match &arguments.budget_usd {
            None => None,
            Some(text) => Some((amount(text)?, prices(arguments)?)),
        };
        Ok(Self { timeout, budget })
    }

    /// Whether the model has a price, where there is a budget.
    ///
    /// # Errors
    ///
    /// A usage failure where it has none.
    pub(super) fn check(&self, model: &str) -> Result<(), Failure> {
        match &self.budget {
            Some((_limit, prices)) => prices
                .price(model)
                .map(drop)
                .map_err(|error| no_price(&error)),
            None => Ok(()),
        }
    }

    /// The model, its calls paid from the budget where there is one.
    ///
    /// # Errors
    ///
    /// A usage failure where the model has no price.
    pub(super) fn paid(
        &self,
        model: Arc<dyn LanguageModel>,
        kept: &Kept,
    ) -> Result<Arc<dyn LanguageModel>, Failure> {
        let Some((limit, prices)) = &self.budget else {
            return Ok(model);
        };
        let sink = Arc::new(stops(kept).map_err(|error| unnamed(&error))?);
        let budget = Budget::new(BudgetConfig {
            limit: *limit,
            spent: Money::ZERO,
            warn_at: 80,
            prices: prices.clone(),
            sink,
            clock: Arc::new(SystemClock),
        });
        let paid = BudgetedModel::new(model, budget, CallBound::default());
        Ok(Arc::new(paid.map_err(|error| no_price(&error))?))
    }

    /// Begins to watch the time, while what it returns is held.
    ///
    /// # Errors
    ///
    /// Where the limit cannot be watched.
    pub(super) fn watch(&self, kept: &Kept) -> Result<Option<LimitGuard>, Failure> {
        let Some(limit) = self.timeout else {
            return Ok(None);
        };
        let sink = Arc::new(stops(kept).map_err(|error| unnamed(&error))?);
        let limit = TimeLimit {
            limit,
            used: Duration::ZERO,
            warn_before: None,
            mode: StopMode::Graceful,
        };
        Ok(Some(limit.start(
            sink,
            Arc::new(SystemClock),
            &Handle::current(),
        )))
    }
}

fn stops(kept: &Kept) -> Result<LimitStops, NameError> {
    Ok(LimitStops {
        requests: kept.run.requests(),
        target: Target::Run(kept.run.run()),
        by: Actor {
            name: ActorName::new("limits")?,
            role: Role::System,
        },
    })
}

fn no_price(error: &NoPrice) -> Failure {
    Failure::new(Exit::Usage, format!("--budget-usd: {error}"))
        .hint("give its price with --prices FILE; docs/policies.md shows one")
}

fn unnamed(error: &NameError) -> Failure {
    Failure::new(Exit::Failure, error.to_string())
}

fn amount(text: &str) -> Result<Money, Failure> {
    text.parse().map_err(|error| {
        Failure::new(Exit::Usage, format!("--budget-usd: {error}"))
            .hint("write an amount in dollars: 0.50")
    })
}

fn prices(arguments: &LimitArguments) -> Result<PriceTable, Failure> {
    let table = match &arguments.prices {
        None => PriceTable::new("USD"),
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                let text = format!("the prices {} cannot be read: {error}", path.display());
                Failure::new(Exit::NotFound, text)
            })?;
            PriceTable::from_toml(&text).map_err(|error| {
                let text = format!("the prices {} cannot be used: {error}", path.display());
                Failure::new(Exit::Usage, text)
            })?
        }
    };
    // The rehearsal costs nobody anything, unless somebody rehearses a budget.
    Ok(match table.price("rehearsal") {
        Ok(_priced) => table,
        Err(_free) => table.with("rehearsal", ModelPrice::FREE),
    })
}
