//! Limits that pause a run from outside: time and money.

use std::sync::Arc;
use std::time::Duration;

use agents::AgentKind;
use interrupts::life::{Actor, Role};
use interrupts::limits::{LimitGuard, TimeLimit};
use interrupts::manager::{LimitStops, Target};
use interrupts::money::{Budget, BudgetConfig, BudgetedModel, CallBound, Money, PriceTable};
use interrupts::policy::{Policy, Subject};
use interrupts::signals::SignalSettings;
use interrupts::{ActorName, KindName, NameError};
use jiff::SignedDuration;
use routing_core::model::LanguageModel;
use routing_core::{AgentType, InterruptType, StopMode, StopSource, SystemClock};
use tokio::runtime::Handle;

use crate::arguments::LimitArguments;
use crate::exit::{Exit, Failure};
use crate::keep::Kept;
use crate::spending::{amount, no_price, prices, spending};

/// What pauses a run.
#[derive(Debug, Clone)]
pub(in crate::commands) struct OuterLimits {
    timeout: Option<Duration>,
    budget: Option<(Money, PriceTable)>,
    /// What models cost, for runs that bring a budget of their own.
    prices: PriceTable,
    grace: Option<Duration>,
    policy: Arc<Policy>,
}

impl OuterLimits {
    /// What the command line says.
    ///
    /// # Errors
    ///
    /// A usage failure where the prices or the amount cannot be read.
    pub(in crate::commands) fn of(arguments: &LimitArguments) -> Result<Self, Failure> {
        let timeout = arguments.timeout.map(|limit| limit.unsigned_abs());
        let budget = spending(&arguments.budget)?;
        Ok(Self {
            timeout,
            prices: match &budget {
                Some((_limit, prices)) => prices.clone(),
                None => prices(&arguments.budget)?,
            },
            budget,
            grace: arguments.grace.map(|grace| grace.unsigned_abs()),
            policy: Arc::new(crate::policy::of(arguments.policy.as_deref())?),
        })
    }

    /// No limit at all.
    #[cfg(test)]
    pub(in crate::commands) fn none() -> Self {
        Self {
            timeout: None,
            budget: None,
            prices: PriceTable::new("USD"),
            grace: None,
            policy: Arc::default(),
        }
    }

    /// What the command line of a server says: prices may stand there for the budgets of its runs alone.
    ///
    /// # Errors
    ///
    /// As [`OuterLimits::of`].
    pub(in crate::commands) fn of_server(arguments: &LimitArguments) -> Result<Self, Failure> {
        let budget = &arguments.budget;
        let prices = prices(budget)?;
        let limit = budget.budget_usd.as_deref().map(amount).transpose()?;
        Ok(Self {
            timeout: arguments.timeout.map(|limit| limit.unsigned_abs()),
            budget: limit.map(|limit| (limit, prices.clone())),
            prices,
            grace: arguments.grace.map(|grace| grace.unsigned_abs()),
            policy: Arc::new(crate::policy::of(arguments.policy.as_deref())?),
        })
    }

    /// The same with a run's own time and money. It may have less than these allow, never more.
    #[must_use]
    pub(in crate::commands) fn tightened(
        &self,
        timeout: Option<Duration>,
        budget: Option<Money>,
    ) -> Self {
        let limit = self.budget.as_ref().map(|(limit, _prices)| *limit);
        let limit = [limit, budget].into_iter().flatten().min();
        Self {
            timeout: [self.timeout, timeout].into_iter().flatten().min(),
            budget: limit.map(|limit| (limit, self.prices.clone())),
            ..self.clone()
        }
    }

    /// How long a stop may be graceful, where the command line says so.
    pub(in crate::commands) const fn grace(&self) -> Option<Duration> {
        self.grace
    }

    /// What holds for the run's interrupts.
    pub(super) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy)
    }

    /// What is done about signals.
    ///
    /// # Errors
    ///
    /// Where the agent that stands for the run has no name.
    pub(super) fn signals(&self, by: Actor) -> Result<SignalSettings, Failure> {
        let grace = |source| {
            let subject = Subject {
                interrupt_type: InterruptType::Pause,
                agent: KindName::new(AgentKind::Orchestrator.name())
                    .map_err(|error| unnamed(&error))?,
                source,
            };
            let of_policy = || {
                self.policy
                    .grace(&subject)
                    .map(SignedDuration::unsigned_abs)
            };
            Ok(self.grace.or_else(of_policy))
        };
        Ok(SignalSettings {
            by,
            patience: grace(StopSource::User)?,
            drain: grace(StopSource::System)?,
        })
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

fn unnamed(error: &NameError) -> Failure {
    Failure::new(Exit::Failure, error.to_string())
}
