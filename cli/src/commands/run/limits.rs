//! Limits that pause a run from outside: time, money, and what the process uses of its machine.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use engine::run::RunUse;
use interrupt_router::{InterruptType, StopMode, StopSource};
use interrupts::SystemClock;
use interrupts::life::{Actor, Role};
use interrupts::limits::{LimitGuard, ProcessProbe, ResourceGuard, ResourceLimits, TimeLimit};
use interrupts::manager::{LimitStops, Target};
use interrupts::money::{Budget, Money, PriceTable};
use interrupts::policy::{Policy, Subject};
use interrupts::signals::SignalSettings;
use interrupts::{ActorName, NameError};
use jiff::SignedDuration;
use journal::Allowance;
use tokio::runtime::Handle;

use crate::arguments::LimitArguments;
use crate::exit::{Exit, Failure};
use crate::model::OpenedModel;
use crate::run_owner::LocalRun;
use crate::spending::{Spending, amount, order, prices};
use crate::time::Grace;
use crate::workflows;

/// What pauses a run.
#[derive(Debug, Clone)]
pub(in crate::commands) struct OuterLimits {
    timeout: Option<Duration>,
    spending: Option<Spending>,
    /// What models cost, for runs that bring a budget of their own.
    prices: PriceTable,
    resources: ResourceLimits,
    grace: Option<Grace>,
    policy: Arc<Policy>,
    /// The limits of the whole run, as they are stored with it.
    allowance: Allowance,
    /// Whether the command line changes what the run has stored.
    is_changed: bool,
}

impl OuterLimits {
    /// The limits of the command line, for a run that begins: they are stored with the run's order.
    ///
    /// # Errors
    ///
    /// A usage failure if the prices or the amount cannot be read.
    pub(in crate::commands) fn of(arguments: &LimitArguments) -> Result<Self, Failure> {
        let limits = Self::over(arguments, Allowance::default())?;
        let is_changed = false;
        Ok(Self {
            is_changed,
            ..limits
        })
    }

    /// The limits of the command line, completed by those that the run has stored.
    ///
    /// # Errors
    ///
    /// As [`OuterLimits::of`].
    pub(in crate::commands) fn over(
        arguments: &LimitArguments,
        kept: Allowance,
    ) -> Result<Self, Failure> {
        let millis = |time: SignedDuration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let said = Allowance {
            max_steps: arguments.max_steps.map(NonZeroU32::get),
            time_limit_ms: arguments.timeout.map(millis),
            budget: order(&arguments.budget, kept.budget.as_ref())?,
        };
        let allowance = said.over(kept.clone());
        let budget = allowance.budget.as_ref();
        let spending = budget.map(Spending::ordered).transpose()?;
        let prices = spending.as_ref().map(|spending| spending.prices.clone());
        Ok(Self {
            timeout: allowance.time_limit(),
            prices: prices.unwrap_or_else(|| PriceTable::new("USD")),
            spending,
            is_changed: allowance != kept,
            allowance,
            ..Self::process(arguments)?
        })
    }

    /// The limits of the process alone.
    fn process(arguments: &LimitArguments) -> Result<Self, Failure> {
        Ok(Self {
            timeout: None,
            spending: None,
            prices: PriceTable::new("USD"),
            resources: ResourceLimits {
                memory: arguments.max_memory,
                cpu_time: arguments.max_cpu_time.map(|time| time.unsigned_abs()),
                ..ResourceLimits::default()
            },
            grace: arguments.grace,
            policy: Arc::new(crate::policy::of(arguments.policy.as_deref())?),
            allowance: Allowance::default(),
            is_changed: false,
        })
    }

    /// No limit at all.
    #[cfg(test)]
    pub(in crate::commands) fn none() -> Self {
        Self {
            timeout: None,
            spending: None,
            prices: PriceTable::new("USD"),
            resources: ResourceLimits::default(),
            grace: None,
            policy: Arc::default(),
            allowance: Allowance::default(),
            is_changed: false,
        }
    }

    /// The limits of a server's command line: it may give prices just for the budgets of its runs.
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
            spending: limit.map(|limit| Spending {
                limit,
                prices: prices.clone(),
            }),
            prices,
            ..Self::process(arguments)?
        })
    }

    /// The same with a run's own time and money. It may have less than these allow, never more.
    #[must_use]
    pub(in crate::commands) fn tightened(
        &self,
        timeout: Option<Duration>,
        budget: Option<Money>,
    ) -> Self {
        let limit = self.spending.as_ref().map(|spending| spending.limit);
        let limit = [limit, budget].into_iter().flatten().min();
        Self {
            timeout: [self.timeout, timeout].into_iter().flatten().min(),
            spending: limit.map(|limit| Spending {
                limit,
                prices: self.prices.clone(),
            }),
            ..self.clone()
        }
    }

    /// What models may cost, if that is limited.
    pub(in crate::commands) fn spending(&self) -> Option<Spending> {
        self.spending.clone()
    }

    /// How long a stop may be graceful, if the command line says so.
    pub(in crate::commands) const fn grace(&self) -> Option<Grace> {
        self.grace
    }

    /// The limits of the whole run.
    pub(in crate::commands) const fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// The limits of the whole run, if they must be stored with a run that already existed.
    pub(super) fn changed(&self) -> Option<&Allowance> {
        self.is_changed.then_some(&self.allowance)
    }

    /// The policy for the run's interrupts.
    pub(in crate::commands) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy)
    }

    /// The settings for signals.
    ///
    /// # Errors
    ///
    /// If the agent that represents the run has no name.
    pub(super) fn signals(&self, by: Actor) -> Result<SignalSettings, Failure> {
        Ok(SignalSettings {
            by,
            patience: of_signal(self.grace_of(StopSource::User)?),
            drain: of_signal(self.grace_of(StopSource::System)?),
        })
    }

    /// After how long a graceful pause of the run becomes immediate: as the command line says, else the policy; `None`
    /// if neither says anything.
    fn grace_of(&self, source: StopSource) -> Result<Option<Grace>, Failure> {
        let subject = Subject {
            interrupt_type: InterruptType::Pause,
            agent: workflows::leading().ok_or_else(none_built_in)?,
            source,
        };
        Ok(self
            .grace
            .or_else(|| self.policy.grace(&subject).map(Grace)))
    }

    /// Checks that the model has a price if there is a budget.
    ///
    /// # Errors
    ///
    /// A usage failure if it has none.
    pub(super) fn check(&self, model: &OpenedModel) -> Result<(), Failure> {
        match &self.spending {
            Some(spending) => spending.prices_of(model).map(drop),
            None => Ok(()),
        }
    }

    /// What the calls to the model are paid from, if that is limited; what the run has used before counts.
    ///
    /// # Errors
    ///
    /// A usage failure if the model has no price.
    pub(super) fn budget(
        &self,
        model: &OpenedModel,
        kept: &LocalRun,
        used: &RunUse,
    ) -> Result<Option<Budget>, Failure> {
        let Some(spending) = self.spending.clone() else {
            return Ok(None);
        };
        let budget = spending.budget(model, &used.calls, self.sink(kept)?);
        budget.map(Some)
    }

    /// Pauses the run when a limit is reached.
    fn sink(&self, kept: &LocalRun) -> Result<Arc<LimitStops>, Failure> {
        Ok(Arc::new(LimitStops {
            requests: kept.run.requests(),
            target: Target::Run(kept.run.run()),
            by: Actor {
                name: ActorName::new("limits").map_err(|error| unnamed(&error))?,
                role: Role::System,
            },
            grace: self.grace_of(StopSource::System)?.and_then(Grace::duration),
        }))
    }

    /// Begins to watch the time and the machine, while what it returns is held.
    ///
    /// # Errors
    ///
    /// If a limit cannot be watched.
    pub(super) fn watch(&self, kept: &LocalRun, used: &RunUse) -> Result<Vec<LimitGuard>, Failure> {
        let mut guards = Vec::new();
        if let Some(limit) = self.timeout {
            let limit = TimeLimit {
                limit,
                used: used.worked,
                warn_before: None,
                mode: StopMode::Graceful,
            };
            guards.push(limit.start(self.sink(kept)?, Arc::new(SystemClock), &Handle::current()));
        }
        if self.resources.memory.is_some() || self.resources.cpu_time.is_some() {
            let guard = ResourceGuard {
                limits: self.resources,
                probe: Arc::new(ProcessProbe),
                sink: self.sink(kept)?,
                clock: Arc::new(SystemClock),
            };
            let started = guard.start(&Handle::current());
            guards.push(started.map_err(|error| {
                Failure::new(
                    Exit::Usage,
                    format!("--max-memory, --max-cpu-time: {error}"),
                )
                .hint("leave them out on this system; the other limits work everywhere")
            })?);
        }
        Ok(guards)
    }
}

/// The grace of a stop by a signal: it always has an end, unless someone says `none`.
fn of_signal(said: Option<Grace>) -> Option<Duration> {
    said.unwrap_or(Grace::OF_SIGNALS).duration()
}

fn none_built_in() -> Failure {
    Failure::new(Exit::Failure, "this program has no workflow")
}

fn unnamed(error: &NameError) -> Failure {
    Failure::new(Exit::Failure, error.to_string())
}
