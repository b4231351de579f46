//! What the tests of limits share.

use std::sync::{Arc, Mutex};

use interrupts::Clock;
use interrupts::limits::{LimitReached, LimitWarning, StopSink};
use interrupts::money::{Budget, BudgetConfig, ModelPrice, Money, PriceTable};
use jiff::Timestamp;

/// A clock that stands still.
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// Writes down what limits say.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) stops: Mutex<Vec<LimitReached>>,
    pub(crate) warnings: Mutex<Vec<LimitWarning>>,
}

impl Heard {
    pub(crate) fn stops(&self) -> Vec<LimitReached> {
        self.stops.lock().unwrap().clone()
    }

    pub(crate) fn warnings(&self) -> Vec<LimitWarning> {
        self.warnings.lock().unwrap().clone()
    }
}

impl StopSink for Heard {
    fn stop(&self, reached: LimitReached) {
        self.stops.lock().unwrap().push(reached);
    }

    fn warn(&self, warning: LimitWarning) {
        self.warnings.lock().unwrap().push(warning);
    }
}

pub(crate) fn money(text: &str) -> Money {
    text.parse().unwrap()
}

/// A model `fine`, of which a token read costs 0.000001 and one written 0.000004, and one from the cache a tenth.
pub(crate) fn prices() -> PriceTable {
    PriceTable::new("EUR").with("fine", ModelPrice::for_million("1", "0.1", "4").unwrap())
}

pub(crate) fn budget(limit: &str, heard: &Arc<Heard>) -> Budget {
    Budget::new(BudgetConfig {
        limit: money(limit),
        spent: Money::ZERO,
        warn_at: 80,
        prices: prices(),
        sink: Arc::<Heard>::clone(heard),
        clock: Arc::new(Still),
    })
}
