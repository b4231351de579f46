//! What a workflow wants done, and the facts for its observer.

use std::time::Duration;

use interrupt_router::InterruptDetails;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::plan::{PlanStep, StepId};
use crate::state::{Cause, PlanEnd};

/// What a model is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanningCall {
    /// The first plan.
    Plan,
    /// Whether the goal is reached, or how the plan goes on.
    Replan,
    /// A plan that carries out what a person wants.
    ForcedReplan {
        /// What the person wants.
        request: String,
    },
    /// A change that is only shown.
    Suggestion {
        /// What the person wants.
        request: String,
    },
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonQuestion {
    /// How to go on, after an interrupt or a failure.
    HowToGoOn {
        /// Why the workflow has stopped.
        cause: Cause,
    },
    /// An agent's question.
    Question {
        /// The step of the agent, if it carries out one.
        step: Option<StepId>,
        /// What it asks.
        question: InterruptDetails,
    },
}

/// What a workflow wants done, in this order. It waits for one thing at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanEffect {
    /// Notifies the observer.
    Record(Fact),
    /// The state is saved. What follows happens only when that is durable.
    Checkpoint {
        /// Why.
        reason: &'static str,
    },
    /// A model is asked.
    AskModel(PlanningCall),
    /// A step is carried out.
    RunStep(PlanStep),
    /// A person is asked.
    AskPerson(PersonQuestion),
    /// The agent's open question waits behind the person's interrupt.
    HoldQuestion,
    /// The agent's question is not wanted any more.
    WithdrawQuestion,
    /// The workflow waits, then [`PlanEvent::RetryDue`](super::PlanEvent::RetryDue) follows.
    Wait(Duration),
    /// The workflow is over.
    End(PlanEnd),
}

/// What kind of fact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// A person's interrupt took effect.
    UserEscape,
    /// An agent asks.
    HumanInput,
    /// Something failed that does not mend itself.
    SystemError,
    /// A model would leave out steps that a person applied.
    OpenSteps,
    /// Something failed and is tried again.
    Retry,
    /// A person interrupted while an agent's question was open.
    Clash,
    /// An agent's question was answered.
    Answered,
    /// An agent's question is shown again.
    QuestionShownAgain,
    /// An agent's question is not wanted any more.
    QuestionWithdrawn,
    /// The person wants the plan changed.
    ModificationRequested,
    /// A message came for the plan.
    Told,
    /// The plan has changed.
    PlanChanged,
    /// A change of the plan was taken back.
    Undone,
    /// A change that was taken back was made again.
    Redone,
    /// It goes on.
    Resumed,
    /// A step is done.
    StepDone,
    /// The goal is reached.
    Completed,
    /// It was cancelled.
    Cancelled,
}

/// What the observer keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What kind of fact it is.
    pub kind: FactKind,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When.
    pub time: Timestamp,
    /// The tasks that are left, in order.
    pub current_plan: Vec<String>,
    /// How many steps are done.
    pub completed_steps: usize,
    /// How many steps there are, done and left.
    pub total_steps: usize,
}
