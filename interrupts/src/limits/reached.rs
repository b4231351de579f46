//! What a limit reports when it is reached, and to whom.

use std::fmt::{self, Display};

use interrupt_router::{StopMode, StopReason, StopScope, StopSource};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// The time since the start.
    Time,
    /// The steps that were begun.
    Steps,
    /// What the models cost.
    Cost,
    /// The memory of the process.
    Memory,
    /// The processor time of the process.
    Cpu,
}

impl LimitKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Time, Self::Steps, Self::Cost, Self::Memory, Self::Cpu];

    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Steps => "steps",
            Self::Cost => "cost",
            Self::Memory => "memory",
            Self::Cpu => "cpu",
        }
    }
}

impl Display for LimitKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A limit that was reached: the request for a stop that follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitReached {
    /// What was limited.
    pub limit: LimitKind,
    /// How to stop.
    pub mode: StopMode,
    /// What happened, in words.
    pub message: String,
    /// The figures, as a JSON object.
    pub metadata: Value,
    /// When.
    pub at: Timestamp,
}

impl LimitReached {
    /// The reason of the stop.
    pub fn reason(&self) -> StopReason {
        StopReason {
            source: StopSource::System,
            mode: self.mode,
            message: self.message.clone(),
            timestamp: self.at,
        }
    }
}

/// A limit that is nearly reached, or one that cannot be watched any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LimitWarning {
    /// What is limited.
    pub limit: LimitKind,
    /// What to know, in words.
    pub message: String,
    /// The figures, as a JSON object.
    pub metadata: Value,
    /// When.
    pub at: Timestamp,
}

/// Stops a run when a limit is reached. Called from any thread, and must not wait.
pub trait StopSink: Send + Sync {
    /// A limit was reached. Each guard says so once.
    fn stop(&self, reached: LimitReached);

    /// A limit is nearly reached.
    fn warn(&self, warning: LimitWarning) {
        let _nobody_listens = warning;
    }
}

/// Stops the scope and nothing more: for embedders who keep no records.
impl StopSink for StopScope {
    fn stop(&self, reached: LimitReached) {
        Self::stop(self, reached.reason());
    }
}
