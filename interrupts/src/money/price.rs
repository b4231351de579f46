//! What models cost.

use std::collections::BTreeMap;

use super::amount::{Money, ParseMoneyError};
use super::usage::Usage;
use crate::settings::{Settings, SettingsError, SettingsTable, nearest};

/// The tokens that a price is for.
const TOKENS_OF_A_PRICE: u128 = 1_000_000;

/// The decimals of a price for a million tokens. With them the price of one token is exact.
const PRICE_DECIMALS: usize = 6;

/// The highest price, for a million tokens: a product with any number of tokens is exact below it.
const HIGHEST_PRICE: Money = Money::from_parts(10_u128.pow(21));

/// The currency of a table that does not name one.
const USUAL_CURRENCY: &str = "USD";

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelPrice {
    input: Money,
    cached: Money,
    output: Money,
}

/// Why a price was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// It is no amount, or finer than a price may be.
    #[error(transparent)]
    Amount(#[from] ParseMoneyError),
    /// It is higher than any price.
    #[error("a price for a million tokens is at most {HIGHEST_PRICE}, not {given}")]
    TooHigh {
        /// What was given.
        given: Money,
    },
}

impl ModelPrice {
    /// Nothing is paid for the model.
    pub const FREE: Self = Self {
        input: Money::ZERO,
        cached: Money::ZERO,
        output: Money::ZERO,
    };

    /// Prices for a million tokens as decimal texts of at most six decimals: tokens read, tokens read from the
    /// provider's cache, tokens written.
    ///
    /// # Errors
    ///
    /// [`PriceError`] if a text is no such price.
    pub fn for_million(input: &str, cached: &str, output: &str) -> Result<Self, PriceError> {
        Ok(Self {
            input: for_one(input)?,
            cached: for_one(cached)?,
            output: for_one(output)?,
        })
    }

    /// What a usage costs if so many tokens were reserved: unknown tokens are charged as reserved.
    pub fn cost(&self, usage: &Usage, reserved_input: u64, reserved_output: u64) -> Money {
        let input = usage.input.charged(reserved_input);
        let cached = usage.cached.min(input);
        times(self.input, input - cached)
            .plus(times(self.cached, cached))
            .plus(times(self.output, usage.output.charged(reserved_output)))
    }

    /// The most that a call may cost that reads and writes at most so many tokens.
    pub fn bound(&self, input: u64, output: u64) -> Money {
        times(self.input.max(self.cached), input).plus(times(self.output, output))
    }
}

/// The price of one token. A price has so few decimals that nothing is lost.
fn for_one(text: &str) -> Result<Money, PriceError> {
    let price = Money::read(text, PRICE_DECIMALS)?;
    if price > HIGHEST_PRICE {
        return Err(PriceError::TooHigh { given: price });
    }
    Ok(Money::from_parts(price.parts() / TOKENS_OF_A_PRICE))
}

/// Exact: the price of a token is below 2^50, so the product is below 2^114.
fn times(price: Money, tokens: u64) -> Money {
    Money::from_parts(price.parts().saturating_mul(u128::from(tokens)))
}

/// A model that has no price. A budget over it is refused: it would count nothing and hold nothing back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no price for the model `{model}`, so no budget can hold it back; {remedy}")]
pub struct NoPrice {
    /// The model.
    pub model: String,
    remedy: String,
}

/// What models cost, in one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTable {
    currency: String,
    prices: BTreeMap<String, ModelPrice>,
}

impl Default for PriceTable {
    fn default() -> Self {
        Self::new(USUAL_CURRENCY)
    }
}

impl PriceTable {
    /// An empty table in a currency, which is a name for people.
    pub fn new(currency: impl Into<String>) -> Self {
        Self {
            currency: currency.into(),
            prices: BTreeMap::new(),
        }
    }

    /// The table with one more price. The last one given for a model counts.
    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: ModelPrice) -> Self {
        self.prices.insert(model.into(), price);
        self
    }

    /// Reads a table from TOML: `currency`, and a table `prices` with `input`, `output` and, if it differs,
    /// `cached_input` for each model, as prices for a million tokens. Numbers are read digit by digit. A policy may be
    /// in the same text.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] with every mistake, its line and its remedy.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        let settings = Settings::parse(text)?;
        let table = read_table(&settings);
        settings.finish(table)
    }

    /// The name of the currency.
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// The price of a model.
    ///
    /// # Errors
    ///
    /// [`NoPrice`] if the table has none.
    pub fn price(&self, model: &str) -> Result<ModelPrice, NoPrice> {
        self.prices.get(model).copied().ok_or_else(|| {
            let names = self.prices.keys().map(String::as_str);
            NoPrice {
                model: model.to_owned(),
                remedy: nearest(model, names).map_or_else(
                    || {
                        format!(
                            "add [prices.\"{model}\"] with input and output for a million tokens"
                        )
                    },
                    |name| format!("did you mean `{name}`? Else add [prices.\"{model}\"]"),
                ),
            }
        })
    }
}

fn read_table(settings: &Settings<'_>) -> PriceTable {
    let root = settings.root();
    let currency = root.text("currency");
    let mut table = PriceTable::new(currency.map_or(USUAL_CURRENCY, |text| text.value));
    if let Some(prices) = root.table("prices") {
        for (model, price) in prices.named_tables() {
            if let Some(price) = read_price(&price) {
                table.prices.insert(model.to_owned(), price);
            }
        }
    }
    root.finish();
    table
}

fn read_price(table: &SettingsTable<'_>) -> Option<ModelPrice> {
    let price = |key: &'static str| {
        let text = table.number(key)?;
        for_one(text.value)
            .map_err(|error| table.refuse(&text.span, error.to_string()))
            .ok()
    };
    let (input, cached, output) = (price("input"), price("cached_input"), price("output"));
    table.require(&["input", "output"]);
    table.finish();
    let input = input?;
    Some(ModelPrice {
        input,
        cached: cached.unwrap_or(input),
        output: output?,
    })
}
