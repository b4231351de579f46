//! What may be spent: an amount, and the prices of models.

use interrupts::money::{ModelPrice, Money, PriceTable};

use crate::arguments::BudgetArguments;
use crate::exit::{Exit, Failure};

/// The limit and the prices, where there is a limit.
///
/// # Errors
///
/// A usage failure where the prices or the amount cannot be read.
pub(crate) fn spending(
    arguments: &BudgetArguments,
) -> Result<Option<(Money, PriceTable)>, Failure> {
    match &arguments.budget_usd {
        None => Ok(None),
        Some(text) => Ok(Some((amount(text)?, prices(arguments)?))),
    }
}

/// What to say where a model has no price.
pub(crate) fn no_price(error: &interrupts::money::NoPrice) -> Failure {
    Failure::new(Exit::Usage, format!("--budget-usd: {error}"))
        .hint("give its price with --prices FILE; docs/policies.md shows one")
}

fn amount(text: &str) -> Result<Money, Failure> {
    text.parse().map_err(|error| {
        Failure::new(Exit::Usage, format!("--budget-usd: {error}"))
            .hint("write an amount in dollars: 0.50")
    })
}

fn prices(arguments: &BudgetArguments) -> Result<PriceTable, Failure> {
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
