//! Money in exact integers: amounts, prices, and budgets that many calls charge at once.
//!
//! Nothing here is a floating point number: prices are read digit by digit, a call's cost is a product of
//! integers, and a budget is a sum of them.

mod amount;
mod budget;
mod model;
mod price;
mod reservation;
mod usage;

pub use amount::{Money, ParseMoneyError};
pub use budget::{Budget, BudgetConfig, BudgetRefusal, BudgetState};
pub use model::{BudgetedModel, CallBound};
pub use price::{ModelPrice, NoPrice, PriceError, PriceTable};
pub use reservation::{Reservation, Settlement};
pub use usage::{Amount, Known, Usage};
