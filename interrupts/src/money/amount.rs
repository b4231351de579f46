//! An amount of money.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The decimals that are kept.
const DECIMALS: usize = 12;

/// The parts of a unit.
const PARTS: u128 = 1_000_000_000_000;

/// The most digits before the point; no sum of fewer than 2^64 such amounts is cut.
const MOST_WHOLE_DIGITS: usize = 15;

/// The decimals that are shown even if they are zero.
const SHOWN_DECIMALS: usize = 2;

/// An amount of money, never negative, in 10^-12 of a currency's unit; the code that uses it knows the currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(u128);

/// A text that is no amount of money.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseMoneyError {
    /// Not digits with at most one point between them.
    #[error("`{given}` is no amount; write digits with a point, such as 12.50")]
    NotDecimal {
        /// What was given.
        given: String,
    },
    /// More decimals than are kept.
    #[error("`{given}` has more than {most} decimals")]
    TooFine {
        /// What was given.
        given: String,
        /// The most that are kept.
        most: usize,
    },
    /// More digits before the point than an amount may have.
    #[error("`{given}` has more than {MOST_WHOLE_DIGITS} digits before the point")]
    TooLarge {
        /// What was given.
        given: String,
    },
}

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many 10^-12 of a unit.
    pub const fn from_parts(parts: u128) -> Self {
        Self(parts)
    }

    /// How many 10^-12 of a unit.
    pub const fn parts(self) -> u128 {
        self.0
    }

    /// The sum, or the most there can be.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left, or nothing.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// So many percent of it, rounded down.
    #[must_use]
    pub const fn percent(self, percent: u8) -> Self {
        // The whole hundreds and the rest apart, so that nothing is cut at the top.
        let (hundreds, rest) = (self.0 / 100, self.0 % 100);
        let percent = percent as u128;
        Self(hundreds.saturating_mul(percent) + rest * percent / 100)
    }

    /// Reads a decimal text with at most `most` decimals, of the 12 that are kept.
    pub(crate) fn read(text: &str, most: usize) -> Result<Self, ParseMoneyError> {
        let given = || text.to_owned();
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(fraction) {
            return Err(ParseMoneyError::NotDecimal { given: given() });
        }
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        if whole.len() > MOST_WHOLE_DIGITS {
            return Err(ParseMoneyError::TooLarge { given: given() });
        }
        if fraction.len() > most.min(DECIMALS) {
            return Err(ParseMoneyError::TooFine {
                given: given(),
                most: most.min(DECIMALS),
            });
        }
        let padded = format!("{whole}{fraction:0<DECIMALS$}");
        padded
            .parse()
            .map(Self)
            .map_err(|_overflow| ParseMoneyError::TooLarge { given: given() })
    }
}

impl FromStr for Money {
    type Err = ParseMoneyError;

    fn from_str(text: &str) -> Result<Self, ParseMoneyError> {
        Self::read(text, DECIMALS)
    }
}

impl Display for Money {
    /// All decimals that are not zero, and at least two.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / PARTS, self.0 % PARTS);
        let digits = format!("{fraction:0>DECIMALS$}");
        let significant = digits.trim_end_matches('0').len().max(SHOWN_DECIMALS);
        write!(formatter, "{whole}.{}", &digits[..significant])
    }
}

impl Serialize for Money {
    /// A decimal text: readers that parse numbers as floating point would round a number.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Money, ParseMoneyError};

    #[test]
    fn an_amount_is_read_digit_by_digit() {
        assert_eq!("0.1".parse(), Ok(Money::from_parts(100_000_000_000)));
        assert_eq!("007".parse(), Ok(Money::from_parts(7_000_000_000_000)));
        assert_eq!("0.000000000001".parse(), Ok(Money::from_parts(1)));
        assert_eq!("12.500".parse::<Money>().unwrap().to_string(), "12.50");
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in [
            "", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "NaN", "inf", "1 ", "0x1", "٣",
        ] {
            let refused = text.parse::<Money>();
            assert!(
                matches!(refused, Err(ParseMoneyError::NotDecimal { .. })),
                "{text}: {refused:?}"
            );
        }
        let fine = "0.0000000000001".parse::<Money>();
        assert!(matches!(fine, Err(ParseMoneyError::TooFine { .. })));
        let large = "1000000000000000".parse::<Money>();
        assert!(matches!(large, Err(ParseMoneyError::TooLarge { .. })));
    }

    #[test]
    fn a_part_in_percent_is_rounded_down_and_never_cut() {
        assert_eq!(Money::from_parts(199).percent(50), Money::from_parts(99));
        assert_eq!(
            Money::from_parts(u128::MAX).percent(100),
            Money::from_parts(u128::MAX)
        );
    }

    proptest! {
        #[test]
        fn an_amount_reads_back_from_its_text(parts in 0..10_u128.pow(27)) {
            let money = Money::from_parts(parts);
            prop_assert_eq!(money.to_string().parse(), Ok(money));
            let json = serde_json::to_string(&money).unwrap();
            prop_assert_eq!(serde_json::from_str::<Money>(&json).unwrap(), money);
        }
    }
}
