//! What a call used, and how that is known.

use interrupt_router::model::{ModelError, TokenUsage};
use serde::{Deserialize, Serialize};

use super::amount::Money;

/// A number of tokens, and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(tag = "known", content = "tokens", rename_all = "snake_case")]
pub enum Known {
    /// The provider said so.
    Reported(u64),
    /// An estimate, since the provider could not report it.
    Estimated(u64),
    /// Unknown. Charged as much as was reserved, since it can hardly be more.
    #[default]
    Unknown,
    /// Nothing of it is billed: no request was sent, or the provider refused it.
    NotBilled,
}

impl Known {
    /// The tokens to charge if `reserved` were reserved.
    pub(super) const fn charged(self, reserved: u64) -> u64 {
        match self {
            Self::Reported(tokens) | Self::Estimated(tokens) => tokens,
            Self::Unknown => reserved,
            Self::NotBilled => 0,
        }
    }
}

/// What a call used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, the cached ones included.
    pub input: Known,
    /// How many of the tokens read came from the provider's cache, as it said; 0 if it did not.
    #[serde(default)]
    pub cached: u64,
    /// Tokens written.
    pub output: Known,
}

impl Usage {
    /// Nothing at all.
    pub const NOT_BILLED: Self = Self {
        input: Known::NotBilled,
        cached: 0,
        output: Known::NotBilled,
    };

    /// Everything is unknown.
    pub const UNKNOWN: Self = Self {
        input: Known::Unknown,
        cached: 0,
        output: Known::Unknown,
    };

    /// What the provider reported, and unknown for the rest.
    pub fn reported(said: TokenUsage) -> Self {
        Self {
            input: said.input.map_or(Known::Unknown, Known::Reported),
            cached: 0,
            output: said.output.map_or(Known::Unknown, Known::Reported),
        }
    }

    /// What the provider reported, and these estimates for the rest.
    pub fn reported_or_estimated(said: TokenUsage, input: u64, output: u64) -> Self {
        Self {
            input: said.input.map_or(Known::Estimated(input), Known::Reported),
            cached: 0,
            output: said
                .output
                .map_or(Known::Estimated(output), Known::Reported),
        }
    }

    /// What a failed call used: nothing if no provider took it, otherwise unknown.
    pub const fn of_failure(error: &ModelError) -> Self {
        if error.is_free() {
            Self::NOT_BILLED
        } else {
            Self::UNKNOWN
        }
    }

    /// How the least sure part is known.
    pub const fn certainty(self) -> Amount {
        match (self.input, self.output) {
            (Known::Unknown, _) | (_, Known::Unknown) => Amount::Assumed,
            (Known::Estimated(_), _) | (_, Known::Estimated(_)) => Amount::Estimated,
            (Known::Reported(_) | Known::NotBilled, Known::Reported(_) | Known::NotBilled) => {
                Amount::Reported
            }
        }
    }
}

/// How a charge is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// Made of what the provider said.
    Reported,
    /// A part of it is a guess.
    Estimated,
    /// A part of it is what was reserved, since the use is unknown.
    Assumed,
}

/// Charges, by how they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Charges {
    pub(super) reported: Money,
    pub(super) estimated: Money,
    pub(super) assumed: Money,
}

impl Charges {
    pub(super) fn add(&mut self, certainty: Amount, cost: Money) {
        let sum = match certainty {
            Amount::Reported => &mut self.reported,
            Amount::Estimated => &mut self.estimated,
            Amount::Assumed => &mut self.assumed,
        };
        *sum = sum.plus(cost);
    }
}
