//! Money that is reserved for a call.

use std::fmt::{self, Debug};

use super::amount::Money;
use super::budget::Budget;
use super::price::ModelPrice;
use super::usage::{Amount, Usage};

/// What a call was charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settlement {
    /// What it cost.
    pub cost: Money,
    /// How that is known.
    pub known: Amount,
}

/// Money that is reserved for a call. If it is dropped without being settled, as when a call is torn down, it is
/// charged in full, since the use is unknown.
#[must_use = "dropped, it is charged whole"]
pub struct Reservation {
    budget: Budget,
    price: ModelPrice,
    input: u64,
    output: u64,
    reserved: Money,
    is_open: bool,
}

impl Reservation {
    pub(super) const fn of(
        budget: Budget,
        price: ModelPrice,
        input: u64,
        output: u64,
        reserved: Money,
    ) -> Self {
        Self {
            budget,
            price,
            input,
            output,
            reserved,
            is_open: true,
        }
    }

    /// The most that was reserved.
    pub const fn reserved(&self) -> Money {
        self.reserved
    }

    /// The tokens that were reserved: to be read, and to be written.
    pub const fn tokens(&self) -> (u64, u64) {
        (self.input, self.output)
    }

    /// Charges what the call used, and frees the rest.
    pub fn settle(mut self, usage: Usage) -> Settlement {
        self.close(usage)
    }

    fn close(&mut self, usage: Usage) -> Settlement {
        self.is_open = false;
        let settlement = Settlement {
            cost: self.price.cost(&usage, self.input, self.output),
            known: usage.certainty(),
        };
        self.budget
            .charge(self.reserved, settlement.cost, settlement.known);
        settlement
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.is_open {
            self.close(Usage::UNKNOWN);
        }
    }
}

impl Debug for Reservation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Reservation")
            .field("reserved", &self.reserved)
            .finish_non_exhaustive()
    }
}
