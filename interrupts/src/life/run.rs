//! The states of a run.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The state of a run. Paused and waiting are neither success nor error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It exists, nothing of it has started.
    Created,
    /// It works.
    Running,
    /// It was told to stop and has not stopped yet.
    Stopping,
    /// It was told to stop and has; it can be resumed.
    Paused,
    /// It stopped to ask: at least one question is open.
    Waiting,
    /// It reached its end. Final.
    Completed,
    /// It cannot go on. Final.
    Failed,
    /// It was ended on request. Final.
    Cancelled,
}

/// A text that names no state of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no state of a run")]
pub struct UnknownRunState {
    given: String,
}

impl RunState {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Created,
        Self::Running,
        Self::Stopping,
        Self::Paused,
        Self::Waiting,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Whether nothing can happen to it any more.
    pub const fn is_final(self) -> bool {
        self.next().is_empty()
    }

    /// What may follow.
    pub const fn next(self) -> &'static [Self] {
        match self {
            Self::Created => &[Self::Running, Self::Stopping, Self::Failed, Self::Cancelled],
            Self::Running => &[
                Self::Stopping,
                Self::Paused,
                Self::Waiting,
                Self::Completed,
                Self::Failed,
                Self::Cancelled,
            ],
            // A run may reach its end, or a question, before the stop reaches it.
            Self::Stopping => &[
                Self::Paused,
                Self::Waiting,
                Self::Completed,
                Self::Failed,
                Self::Cancelled,
            ],
            // When its pause is cancelled, a question of one of its agents may still be open.
            Self::Paused => &[Self::Running, Self::Waiting, Self::Failed, Self::Cancelled],
            Self::Waiting => &[
                Self::Running,
                Self::Stopping,
                Self::Paused,
                Self::Failed,
                Self::Cancelled,
            ],
            Self::Completed | Self::Failed | Self::Cancelled => &[],
        }
    }

    /// Whether it may become another state.
    pub fn may_become(self, next: Self) -> bool {
        self.next().contains(&next)
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Paused => "paused",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Display for RunState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for RunState {
    type Err = UnknownRunState;

    fn from_str(text: &str) -> Result<Self, UnknownRunState> {
        Self::ALL
            .into_iter()
            .find(|state| state.name() == text)
            .ok_or_else(|| UnknownRunState {
                given: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::RunState;

    #[test]
    fn completed_failed_and_cancelled_are_final_and_no_other_is() {
        let finals: Vec<_> = RunState::ALL
            .into_iter()
            .filter(|state| state.is_final())
            .collect();
        assert_eq!(
            finals,
            [RunState::Completed, RunState::Failed, RunState::Cancelled]
        );
    }

    #[test]
    fn a_state_reads_back_from_its_name() {
        for state in RunState::ALL {
            assert_eq!(state.name().parse(), Ok(state));
        }
    }
}
