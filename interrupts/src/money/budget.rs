//! A limit to what models cost.

use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Clock;
use interrupt_router::StopMode;
use serde::Serialize;
use serde_json::json;
use tokio::sync::Notify;

use super::amount::Money;
use super::price::{ModelPrice, NoPrice, PriceTable};
use super::reservation::Reservation;
use super::usage::{Amount, Charges};
use crate::limits::{LimitKind, LimitReached, LimitWarning, StopSink};

/// What a budget needs.
pub struct BudgetConfig {
    /// What may be spent.
    pub limit: Money,
    /// What was spent before, by the part of a run that came before a resume.
    pub spent: Money,
    /// At which part of the limit a warning is given, in percent.
    pub warn_at: u8,
    /// What models cost.
    pub prices: PriceTable,
    /// Notified when the money is spent.
    pub sink: Arc<dyn StopSink>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// One limit over all who share it: clones charge the same account, from any thread.
///
/// A call reserves the most that it may cost before it begins, and is charged what it did cost when it has
/// ended. So calls that run at the same time cannot spend the same money twice; the limit is passed only by a
/// call that cost more than was reserved for it.
#[derive(Clone)]
pub struct Budget {
    shared: Arc<BudgetInner>,
}

struct BudgetInner {
    config: BudgetConfig,
    account: Mutex<Account>,
    /// Woken when a reservation ends.
    freed: Notify,
}

#[derive(Default)]
struct Account {
    spent: Money,
    reserved: Money,
    charges: Charges,
    calls: u64,
    warned: bool,
    told: bool,
}

/// The state of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BudgetState {
    /// What may be spent.
    pub limit: Money,
    /// What is spent, what was spent before included.
    pub spent: Money,
    /// What is reserved for calls that are under way.
    pub reserved: Money,
    /// Of what is spent: what providers said.
    pub reported: Money,
    /// Of what is spent: what was partly guessed.
    pub estimated: Money,
    /// Of what is spent: what was partly charged as reserved, since the use is unknown.
    pub assumed: Money,
    /// How many calls were charged.
    pub calls: u64,
}

/// Why nothing was reserved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetRefusal {
    /// The model has no price.
    #[error(transparent)]
    NoPrice(#[from] NoPrice),
    /// The call may cost more than is left. A stop was asked for.
    #[error("{}", .0.message)]
    Spent(LimitReached),
    /// What is left is reserved by other calls; some of it may come back.
    #[error("what is left of the budget is reserved by calls that are under way")]
    Busy,
}

impl Budget {
    /// A budget of which nothing is reserved.
    pub fn new(config: BudgetConfig) -> Self {
        let account = Account {
            spent: config.spent,
            ..Account::default()
        };
        Self {
            shared: Arc::new(BudgetInner {
                config,
                account: Mutex::new(account),
                freed: Notify::new(),
            }),
        }
    }

    /// The price of a model.
    ///
    /// # Errors
    ///
    /// [`NoPrice`] if it has none.
    pub fn price(&self, model: &str) -> Result<ModelPrice, NoPrice> {
        self.shared.config.prices.price(model)
    }

    /// Its current state.
    pub fn state(&self) -> BudgetState {
        let account = self.account();
        BudgetState {
            limit: self.shared.config.limit,
            spent: account.spent,
            reserved: account.reserved,
            reported: account.charges.reported,
            estimated: account.charges.estimated,
            assumed: account.charges.assumed,
            calls: account.calls,
        }
    }

    /// Reserves for a call that reads and writes at most so many tokens.
    ///
    /// # Errors
    ///
    /// [`BudgetRefusal`]; with [`BudgetRefusal::Spent`] a stop was asked for.
    pub fn reserve(
        &self,
        model: &str,
        input: u64,
        output: u64,
    ) -> Result<Reservation, BudgetRefusal> {
        self.reserve_at(self.price(model)?, input, output)
    }

    /// Reserves as [`Budget::reserve`] does, and waits while other calls have reserved what is needed.
    ///
    /// # Errors
    ///
    /// [`BudgetRefusal`], never [`BudgetRefusal::Busy`].
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, nothing is reserved.
    pub async fn reserve_when_free(
        &self,
        model: &str,
        input: u64,
        output: u64,
    ) -> Result<Reservation, BudgetRefusal> {
        let price = self.price(model)?;
        self.wait_for(price, input, output).await
    }

    pub(super) async fn wait_for(
        &self,
        price: ModelPrice,
        input: u64,
        output: u64,
    ) -> Result<Reservation, BudgetRefusal> {
        loop {
            // It listens before it checks, so that it does not miss what is freed in between.
            let mut freed = std::pin::pin!(self.shared.freed.notified());
            freed.as_mut().enable();
            match self.reserve_at(price, input, output) {
                Err(BudgetRefusal::Busy) => freed.await,
                decided => return decided,
            }
        }
    }

    fn reserve_at(
        &self,
        price: ModelPrice,
        input: u64,
        output: u64,
    ) -> Result<Reservation, BudgetRefusal> {
        let needed = price.bound(input, output);
        let limit = self.shared.config.limit;
        let mut account = self.account();
        if account.spent.plus(needed) > limit {
            let first = !std::mem::replace(&mut account.told, true);
            let spent = account.spent;
            drop(account);
            let reached = self.reached(spent, Some(needed));
            if first {
                self.shared.config.sink.stop(reached.clone());
            }
            return Err(BudgetRefusal::Spent(reached));
        }
        if account.spent.plus(account.reserved).plus(needed) > limit {
            return Err(BudgetRefusal::Busy);
        }
        account.reserved = account.reserved.plus(needed);
        drop(account);
        Ok(Reservation::of(self.clone(), price, input, output, needed))
    }

    /// The charge and the freed reservation are one change: no other call sees the one without the other.
    pub(super) fn charge(&self, reserved: Money, cost: Money, known: Amount) {
        let BudgetConfig { limit, warn_at, .. } = self.shared.config;
        let mut account = self.account();
        account.reserved = account.reserved.minus(reserved);
        account.spent = account.spent.plus(cost);
        account.charges.add(known, cost);
        account.calls += 1;
        let spent = account.spent;
        let near = spent >= limit.percent(warn_at) && cost > Money::ZERO;
        let is_near = near && !std::mem::replace(&mut account.warned, true);
        let over = spent >= limit && cost > Money::ZERO;
        let is_spent = over && !std::mem::replace(&mut account.told, true);
        drop(account);
        self.shared.freed.notify_waiters();
        if is_near {
            self.shared.config.sink.warn(self.near(spent));
        }
        if is_spent {
            self.shared.config.sink.stop(self.reached(spent, None));
        }
    }

    fn near(&self, spent: Money) -> LimitWarning {
        let limit = self.shared.config.limit;
        let currency = self.shared.config.prices.currency();
        LimitWarning {
            limit: LimitKind::Cost,
            message: format!("{spent} of the budget of {limit} {currency} are spent"),
            metadata: json!({ "limit": limit, "spent": spent, "currency": currency }),
            at: self.shared.config.clock.now(),
        }
    }

    fn reached(&self, spent: Money, needed: Option<Money>) -> LimitReached {
        let limit = self.shared.config.limit;
        let currency = self.shared.config.prices.currency();
        let more = needed.map_or_else(String::new, |needed| {
            format!(", and the next call may cost up to {needed}")
        });
        LimitReached {
            limit: LimitKind::Cost,
            mode: StopMode::Graceful,
            message: format!("{spent} of the budget of {limit} {currency} are spent{more}"),
            metadata: json!({
                "limit": limit, "spent": spent, "needed": needed, "currency": currency,
            }),
            at: self.shared.config.clock.now(),
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.shared
            .account
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debug for Budget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Budget")
            .field(&self.state())
            .finish()
    }
}
