//! What a run may use in total, across all processes that execute it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The kind of the journal's entries that change what a run may use. The last one counts, no matter who resumed the
/// run.
pub const ALLOWANCE: &str = "allowance";

/// What a run may use in total, across all processes that execute it. `None` means no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Allowance {
    /// How many steps it may take; if absent, the order's limit applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u32>,
    /// How long it may be worked on, in milliseconds. Time passes only while a process executes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_ms: Option<u64>,
    /// What its models may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetOrder>,
}

/// What models may cost, and their prices, as the caller gave them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetOrder {
    /// The amount, as a decimal number.
    pub limit: String,
    /// The table of prices, as TOML; empty if none was given.
    #[serde(default)]
    pub prices: String,
}

impl Allowance {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The content of an order with its allowance replaced by this one. Fields that another version or a server added
    /// are kept.
    ///
    /// # Errors
    ///
    /// If it is no order.
    pub fn written_into(&self, order: &str) -> Result<String, serde_json::Error> {
        let mut order: serde_json::Map<String, serde_json::Value> = serde_json::from_str(order)?;
        order.insert("allowance".to_owned(), serde_json::to_value(self)?);
        serde_json::to_string(&order)
    }

    /// How long it may be worked on.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit_ms.map(Duration::from_millis)
    }

    /// This allowance, with its open fields filled in from `before`.
    #[must_use]
    pub fn over(self, before: Self) -> Self {
        Self {
            max_steps: self.max_steps.or(before.max_steps),
            time_limit_ms: self.time_limit_ms.or(before.time_limit_ms),
            budget: self.budget.or(before.budget),
        }
    }
}
