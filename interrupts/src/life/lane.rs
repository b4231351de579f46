//! The two families of interrupts, and the lanes in which questions queue.

use interrupt_router::{AnswerForm, InterruptType, StopSource, Verdict};
use serde::{Deserialize, Serialize};

/// What an interrupt is at bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// It stops, pauses, prunes or forks: it is acknowledged when the stop has taken effect.
    Stop,
    /// It asks: it is acknowledged when the agent has said what it asks.
    Question,
}

impl Family {
    /// The family of a type.
    pub const fn of(interrupt_type: InterruptType) -> Self {
        match interrupt_type {
            InterruptType::HumanReview | InterruptType::AgentReview => Self::Question,
            InterruptType::Pause
            | InterruptType::Stop
            | InterruptType::Prune
            | InterruptType::Branch => Self::Stop,
        }
    }

    /// What may be decided where nothing else is said.
    pub const fn usual_verdicts(self) -> &'static [Verdict] {
        match self {
            Self::Question => &[
                Verdict::Approve,
                Verdict::Edit,
                Verdict::Reject,
                Verdict::Respond,
                Verdict::Ignore,
                Verdict::Reroute,
                Verdict::ModifyPlan,
                Verdict::Cancel,
            ],
            Self::Stop => &[
                // To send a stopped agent elsewhere, a reroute is published for it.
                Verdict::Resume,
                Verdict::Respond,
                Verdict::ModifyPlan,
                Verdict::Cancel,
                Verdict::Applied,
            ],
        }
    }
}

/// Leaves of these verdicts those that can be an answer of this form.
pub fn narrow(allowed: &mut Vec<Verdict>, form: Option<AnswerForm>) {
    if let Some(form) = form {
        allowed.retain(|verdict| form.allows(*verdict));
    }
}

/// The queue in which a question waits; the first lane goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// People's own.
    User,
    /// Agents' and programs'.
    Agent,
    /// Limits and errors.
    System,
}

impl Lane {
    /// All of them, first come first.
    pub const ALL: [Self; 3] = [Self::User, Self::Agent, Self::System];

    /// The lane of a source.
    pub const fn of(source: StopSource) -> Self {
        match source {
            StopSource::User => Self::User,
            StopSource::Programmatic => Self::Agent,
            StopSource::System => Self::System,
        }
    }

    /// The number that inboxes show and sort by; smaller goes first.
    pub const fn priority(self) -> u8 {
        match self {
            Self::User => 0,
            Self::Agent => 10,
            Self::System => 20,
        }
    }
}
