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
        None if arguments.prices.is_some() => Err(Failure::new(
            Exit::Usage,
            "--prices: prices are for a budget, and there is none",
        )
        .hint("say how much may be spent: --budget-usd 0.50")),
        None => Ok(None),
        Some(text) => Ok(Some((amount(text)?, prices(arguments)?))),
    }
}

/// What to say where a model has no price.
pub(crate) fn no_price(error: &interrupts::money::NoPrice) -> Failure {
    Failure::new(Exit::Usage, format!("--budget-usd: {error}"))
        .hint("give its price with --prices FILE; docs/policies.md shows one")
}

/// Reads an amount in dollars.
///
/// # Errors
///
/// A usage failure where it is none.
pub(crate) fn amount(text: &str) -> Result<Money, Failure> {
    text.parse().map_err(|error| {
        Failure::new(Exit::Usage, format!("--budget-usd: {error}"))
            .hint("write an amount in dollars: 0.50")
    })
}

/// The prices of models; the rehearsal is free where they say nothing of it.
///
/// # Errors
///
/// Where they cannot be read.
pub(crate) fn prices(arguments: &BudgetArguments) -> Result<PriceTable, Failure> {
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
