//! The state of a workflow. It can be written down and read again at any moment.

use std::time::Duration;

use interrupt_router::InterruptDetails;
use serde::{Deserialize, Serialize};

use crate::history::PlanHistory;
use crate::plan::{Plan, PlanError, PlanStep, StepId};

/// What a person has asked for, until it is carried out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Flags {
    /// A person has interrupted; it takes effect before the next step.
    pub user_interrupted: bool,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_reason: Option<String>,
    /// The plan must be made anew before anything else.
    pub should_force_replan: bool,
    /// What the person wants of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_modification_request: Option<String>,
}

/// What the workflow works at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "activity", rename_all = "snake_case")]
pub enum Activity {
    /// Making the first plan.
    Planning,
    /// Carrying out a step.
    Executing {
        /// Which.
        step: StepId,
    },
    /// Looking at the plan again: whether it is done, or must change.
    Replanning,
    /// Changing the plan as a person wants it.
    ForcedReplanning,
    /// Handing over the answer.
    Finishing {
        /// The answer.
        response: String,
    },
}

/// Why the workflow waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// A person has interrupted.
    UserEscape {
        /// Why, as far as it was said.
        reason: Option<String>,
    },
    /// Something failed that does not recover by itself.
    SystemError {
        /// What.
        error: String,
        /// How often it was tried.
        attempts: u32,
    },
    /// A model would leave out steps that a person applied. What it wants instead is the suggestion.
    OpenSteps {
        /// The steps that it would leave out.
        steps: Vec<PlanStep>,
    },
}

impl Cause {
    /// Whether the workflow itself asks how to go on. After a person's interrupt, the person says so without being
    /// asked.
    pub const fn is_question(&self) -> bool {
        match self {
            Self::UserEscape { .. } => false,
            Self::SystemError { .. } | Self::OpenSteps { .. } => true,
        }
    }
}

/// The workflow is stopped for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// Why.
    #[serde(flatten)]
    pub cause: Cause,
    /// What it goes on with when nothing is changed.
    pub then: Activity,
    /// The steps that were left when it was held.
    pub left: Vec<StepId>,
    /// The agent's question that waits behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<InterruptDetails>,
    /// A change of the plan that was suggested and is not applied: the tasks that would be left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Vec<String>>,
    /// A suggestion is being made.
    pub is_suggesting: bool,
}

/// How a workflow ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum PlanEnd {
    /// The goal is reached.
    Completed {
        /// The answer.
        response: String,
    },
    /// A person has cancelled it.
    Cancelled {
        /// Why, as far as it was said.
        reason: Option<String>,
    },
}

/// The phase of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Phase {
    /// Nothing has begun.
    Created,
    /// An effect is under way.
    Working {
        /// What it is for.
        #[serde(flatten)]
        activity: Activity,
    },
    /// An agent waits for the answer to its question.
    Asking {
        /// What the agent works at.
        #[serde(flatten)]
        activity: Activity,
        /// The question.
        question: InterruptDetails,
    },
    /// It waits before it tries again.
    BackingOff {
        /// What failed.
        #[serde(flatten)]
        activity: Activity,
        /// How often it has failed.
        attempts: u32,
        /// With what, the last time.
        error: String,
    },
    /// It is stopped for a person.
    Held(Box<Held>),
    /// It is over.
    Ended(PlanEnd),
}

impl Phase {
    /// The name in errors and records.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Working { .. } => "working",
            Self::Asking { .. } => "asking",
            Self::BackingOff { .. } => "backing off",
            Self::Held(_) => "held",
            Self::Ended(_) => "ended",
        }
    }
}

/// How often a failed activity is tried again, and after which time. Nothing is random: the same failures give the same
/// waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// How often something is tried again before a person is asked.
    pub most: u32,
    /// The first wait; each further one is twice as long.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    /// Three times, after 1, 2 and 4 seconds.
    fn default() -> Self {
        Self {
            most: 3,
            first: Duration::from_secs(1),
            longest: Duration::from_secs(30),
        }
    }
}

impl RetryPolicy {
    /// The wait after so many failures, from 1.
    pub(super) fn wait(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(20);
        self.first.saturating_mul(1 << doublings).min(self.longest)
    }
}

/// A plan-and-execute workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanExecute {
    /// What is to be reached.
    pub(super) goal: String,
    pub(super) plan: Plan,
    pub(super) flags: Flags,
    pub(super) phase: Phase,
    pub(super) history: PlanHistory,
    pub(super) retries: RetryPolicy,
    /// How often the activity under way has failed.
    pub(super) attempts: u32,
    /// What the agents asked in the activity under way, and what they were answered.
    pub(super) answers: Vec<(String, String)>,
}

impl PlanExecute {
    /// The version of the form in which it is written down.
    pub const FORM: u32 = 1;

    /// A workflow that has not begun.
    pub fn new(goal: impl Into<String>, retries: RetryPolicy) -> Self {
        Self {
            goal: goal.into(),
            plan: Plan::default(),
            flags: Flags::default(),
            phase: Phase::Created,
            history: PlanHistory::default(),
            retries,
            attempts: 0,
            answers: Vec::new(),
        }
    }

    /// What is to be reached.
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// The plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What a person has asked for and is not carried out yet.
    pub const fn flags(&self) -> &Flags {
        &self.flags
    }

    /// Its phase.
    pub const fn phase(&self) -> &Phase {
        &self.phase
    }

    /// What can be undone, and done again.
    pub const fn history(&self) -> &PlanHistory {
        &self.history
    }

    /// What the agents asked in the activity under way, and what they were answered, in order.
    pub fn answers(&self) -> &[(String, String)] {
        &self.answers
    }

    /// What a change of the steps that are left would do. Nothing is changed.
    ///
    /// # Errors
    ///
    /// [`PlanError`] if the tasks make no plan.
    pub fn preview(&self, tasks: &[String]) -> Result<super::diff::PlanDiff, PlanError> {
        let revised = self.plan.revised(tasks)?;
        Ok(super::diff::PlanDiff::between(&self.plan, &revised))
    }
}
