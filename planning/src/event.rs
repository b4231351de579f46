//! What may happen to a workflow.

use interrupt_router::InterruptDetails;

use crate::plan::{PlanError, StepId};
use crate::step_outcome::StepOutcome;

/// Why an effect failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong, with its context.
    pub error: String,
    /// Whether it may succeed when it is tried again.
    pub is_recoverable: bool,
}

/// What happens to a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanEvent {
    /// It begins.
    Start,
    /// A planner or a replanner has made a plan: the tasks that are left.
    Planned {
        /// The tasks.
        tasks: Vec<String>,
    },
    /// A step is done.
    StepDone {
        /// Which.
        step: StepId,
        /// What came of it.
        result: String,
        /// Whether the plan is still valid.
        outcome: StepOutcome,
    },
    /// The replanner says that the goal is reached.
    Responded {
        /// The answer.
        response: String,
    },
    /// The agent under way asks.
    Asked {
        /// What.
        question: InterruptDetails,
    },
    /// Its question is answered.
    Answered {
        /// The answer, in words.
        answer: String,
    },
    /// What is under way was stopped before its end. It left nothing.
    CallStopped,
    /// What is under way failed.
    Failed(Failure),
    /// The wait before another try is over.
    RetryDue,
    /// A person interrupts. It may come at any time, and takes effect before the next step.
    Interrupt {
        /// Why, if it is said.
        reason: Option<String>,
    },
    /// The person wants the plan changed, and says how.
    Modify {
        /// In words.
        request: String,
    },
    /// The person wants to see how the plan could be changed, without changing it.
    Suggest {
        /// In words.
        request: String,
    },
    /// A change was written, to be looked at before it is applied.
    Propose {
        /// The tasks that would be left.
        tasks: Vec<String>,
    },
    /// A model suggested a change.
    Suggested {
        /// The tasks that would be left.
        tasks: Vec<String>,
    },
    /// The suggestion is applied.
    ApplySuggestion,
    /// The person writes the remaining steps directly.
    Edit {
        /// The tasks.
        tasks: Vec<String>,
    },
    /// The last change of the plan is taken back.
    Undo,
    /// The change that was taken back last is made again.
    Redo,
    /// The person lets the workflow go on. Without changes by the person, nothing is changed.
    Resume,
    /// Messages came for the plan. They are read before something begins, or when a fork continues a plan that was
    /// over.
    Told {
        /// What they say, in their order.
        messages: Vec<String>,
    },
    /// The person cancels the workflow. Nothing is undone and nothing more is done.
    Cancel {
        /// Why, if it is said.
        reason: Option<String>,
    },
}

impl PlanEvent {
    /// The name in errors and records.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Planned { .. } => "planned",
            Self::StepDone { .. } => "step_done",
            Self::Responded { .. } => "responded",
            Self::Asked { .. } => "asked",
            Self::Answered { .. } => "answered",
            Self::CallStopped => "call_stopped",
            Self::Failed(_) => "failed",
            Self::RetryDue => "retry_due",
            Self::Interrupt { .. } => "interrupt",
            Self::Modify { .. } => "modify",
            Self::Suggest { .. } => "suggest",
            Self::Propose { .. } => "propose",
            Self::Suggested { .. } => "suggested",
            Self::ApplySuggestion => "apply_suggestion",
            Self::Edit { .. } => "edit",
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::Resume => "resume",
            Self::Told { .. } => "told",
            Self::Cancel { .. } => "cancel",
        }
    }
}

/// Why an event was refused. The workflow is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// It does not fit the workflow's phase.
    #[error("{event} does not fit: the workflow is {phase}")]
    OutOfPlace {
        /// The event.
        event: &'static str,
        /// The phase.
        phase: &'static str,
    },
    /// It is about another step than the one under way.
    #[error("{given} is not the step that is under way, {current}")]
    OtherStep {
        /// The step that the event names.
        given: StepId,
        /// The step under way.
        current: StepId,
    },
    /// The tasks make no plan.
    #[error(transparent)]
    NoPlan(#[from] PlanError),
    /// The request says nothing.
    #[error("the request is empty; say how the plan shall change, or resume it unchanged")]
    EmptyRequest,
    /// There is nothing to take back, or to make again.
    #[error("there is nothing to {event}")]
    NothingTo {
        /// The event.
        event: &'static str,
    },
}
