//! Why a run fails.

use std::error::Error;

use routing_core::InterruptId;
use routing_core::ask::AskError;
use routing_core::handler::{DecisionError, HandleError};
use routing_core::model::ModelError;
use routing_core::planner::PlanError;
use routing_core::reroute::StoreError;

use crate::durable::control::{StepsTaken, Trouble};
use crate::durable::error::KeepError;
use crate::records::{EmptyList, EmptyText};

/// Why a run fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FlowError {
    /// The model gave no answer.
    #[error("{node} got no answer from its model")]
    Model {
        /// The node that asked.
        node: String,
        /// Why.
        #[source]
        source: AskError,
    },
    /// An interrupt could not be handled.
    #[error("{node} raised an interrupt that could not be handled")]
    Interrupt {
        /// The node that raised it.
        node: String,
        /// Why.
        #[source]
        source: HandleError,
    },
    /// The run could not be kept.
    #[error(transparent)]
    Keep(#[from] KeepError),
    /// The store of reroutes failed.
    #[error("the reroute events cannot be read or written")]
    Reroutes(#[from] StoreError),
    /// The run took as many steps as it may.
    #[error("{}", at_limit(*taken, *limit))]
    StepLimit {
        /// How many it took, in whatever processes.
        taken: u32,
        /// The limit of all of them.
        limit: u32,
    },
    /// The ids of nodes have become too long.
    #[error(transparent)]
    NodeId(#[from] routing_core::ParseNodeIdError),
    /// A record cannot be written as JSON.
    #[error("a record cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// A text of our own is empty.
    #[error(transparent)]
    EmptyText(#[from] EmptyText),
    /// A list of our own is empty.
    #[error(transparent)]
    EmptyList(#[from] EmptyList),
    /// The run's bookkeeping is broken.
    #[error("the run lost track of itself: {detail}")]
    Lost {
        /// How.
        detail: &'static str,
    },
    /// What happened does not fit where a plan stands.
    #[error("the plan cannot go on")]
    PlanRefused(#[source] crate::plan_execute::Refused),
    /// A decided change of a plan does not fit it any more.
    #[error("what was decided about the plan is not carried out")]
    Unfit(#[source] crate::plan_execute::Unfit),
    /// A part of the program panicked.
    #[error("a task of the run panicked: {detail}")]
    Panicked {
        /// What it said.
        detail: String,
    },
    /// A routing could not be dispatched.
    #[error("the planner has nowhere to go")]
    Plan(#[source] Box<PlanError<FlowError>>),
}

impl From<PlanError<FlowError>> for FlowError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else goes wrong in the planner is the planner's fault"
    )]
    fn from(error: PlanError<FlowError>) -> Self {
        match error {
            // Which action it was is known from the node that failed.
            PlanError::Action { source, .. } => source,
            other => Self::Plan(Box::new(other)),
        }
    }
}

impl FlowError {
    /// The whole chain of causes, the outermost first.
    pub(crate) fn chain(&self) -> String {
        let mut chain = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let said = error.to_string();
            // A transparent error says what its cause says.
            if !chain.ends_with(&said) {
                chain.push_str(": ");
                chain.push_str(&said);
            }
            cause = error.source();
        }
        chain
    }

    /// Whether the run could not be recorded. What was recorded before stands, so it has not failed: it can
    /// be resumed.
    pub(crate) fn is_of_the_store(&self) -> bool {
        if self.dead_letter().is_some() {
            return false;
        }
        let mut cause: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = cause {
            let is_model = error
                .downcast_ref::<ModelError>()
                .is_some_and(ModelError::is_unrecorded);
            let is_decision = matches!(
                error.downcast_ref::<DecisionError>(),
                Some(DecisionError::Unavailable(_))
            );
            if is_model || is_decision || error.is::<KeepError>() || error.is::<StoreError>() {
                return true;
            }
            cause = error.source();
        }
        // A transparent error hides the one that it is made of from the chain.
        matches!(self, Self::Keep(_) | Self::Reroutes(_))
            || matches!(
                self,
                Self::Interrupt {
                    source: HandleError::Reroutes(_)
                        | HandleError::Decision(DecisionError::Unavailable(_)),
                    ..
                }
            )
    }

    /// Why a run stands still that could not be recorded.
    pub(crate) fn stands_because(&self) -> String {
        if let Self::Keep(
            KeepError::OtherForm { .. }
            | KeepError::Unreadable { .. }
            | KeepError::OtherSchema { .. }
            | KeepError::Diverged { .. },
        ) = self
        {
            return self.chain();
        }
        "its store failed".to_owned()
    }

    /// Whether the run can go on from where it stands: nothing of its own is wrong. A model's failure is not in
    /// the journal, so the call is made again.
    pub(crate) fn is_resumable(&self) -> bool {
        self.is_of_the_store()
            || matches!(self, Self::StepLimit { .. } | Self::Unfit(_))
            || self.dead_letter().is_some()
            || self.model_error().is_some()
    }

    /// The interrupt that nobody can decide before somebody has it tried again.
    fn dead_letter(&self) -> Option<InterruptId> {
        match self {
            Self::Interrupt {
                source: HandleError::Decision(DecisionError::DeadLettered { interrupt }),
                ..
            }
            | Self::Keep(KeepError::DeadLettered { interrupt }) => Some(*interrupt),
            Self::Model { .. }
            | Self::Interrupt { .. }
            | Self::Keep(_)
            | Self::Reroutes(_)
            | Self::StepLimit { .. }
            | Self::NodeId(_)
            | Self::Json(_)
            | Self::EmptyText(_)
            | Self::EmptyList(_)
            | Self::Lost { .. }
            | Self::PlanRefused(_)
            | Self::Unfit(_)
            | Self::Panicked { .. }
            | Self::Plan(_) => None,
        }
    }

    /// What is kept of it.
    pub(crate) fn trouble(&self) -> Trouble {
        let mut causes = vec![self.to_string()];
        let mut cause = self.source();
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        Trouble {
            error: self.chain(),
            causes,
            node: self.node().map(str::to_owned),
            hint: self.hint(),
            limit_hit: matches!(self, Self::StepLimit { .. }),
            steps: self.steps(),
        }
    }

    /// The steps of a run that has taken as many as it may.
    fn steps(&self) -> Option<StepsTaken> {
        let Self::StepLimit { taken, limit } = self else {
            return None;
        };
        Some(StepsTaken {
            taken: *taken,
            limit: *limit,
        })
    }

    /// The node that was at work.
    fn node(&self) -> Option<&str> {
        match self {
            Self::Model { node, .. } | Self::Interrupt { node, .. } => Some(node),
            Self::Keep(_)
            | Self::Reroutes(_)
            | Self::StepLimit { .. }
            | Self::NodeId(_)
            | Self::Json(_)
            | Self::EmptyText(_)
            | Self::EmptyList(_)
            | Self::Lost { .. }
            | Self::PlanRefused(_)
            | Self::Unfit(_)
            | Self::Panicked { .. }
            | Self::Plan(_) => None,
        }
    }

    /// What may help, where something is known to.
    pub(crate) fn hint(&self) -> Option<String> {
        if let Self::Keep(KeepError::OtherForm { .. }) = self {
            let hint = "what was recorded stands; use the version of the program that saved the checkpoint";
            return Some(hint.to_owned());
        }
        if let Some(interrupt) = self.dead_letter() {
            return Some(format!(
                "`irq redrive {interrupt}` has it tried again, and `irq withdraw {interrupt}` gives it up; resume the run then"
            ));
        }
        if self.is_of_the_store() {
            let hint = "what was recorded stands; see to the store, then resume the run";
            return Some(hint.to_owned());
        }
        if let Self::Unfit(_) = self {
            let hint = "the plan stands as it stood: `irq plan RUN` shows it; change it again, or resume the run with it";
            return Some(hint.to_owned());
        }
        if let Self::StepLimit { taken, .. } = self {
            return Some(format!(
                "`irq replay RUN` shows whether its agents go in circles; else resume it with --max-steps above {taken}"
            ));
        }
        self.model_error().map(|error| llm::hint(error).to_owned())
    }

    /// The model's own error, where one is the cause.
    fn model_error(&self) -> Option<&ModelError> {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<ModelError>() {
                return Some(error);
            }
            cause = error.source();
        }
        None
    }
}

/// That a run took as many steps as it may, or more where the limit was lowered since.
fn at_limit(taken: u32, limit: u32) -> String {
    if taken <= limit {
        return format!("the run has taken {taken} steps, which is its limit");
    }
    format!(
        "the run has taken {taken} steps in all, and its limit, which counts all of them, is {limit}"
    )
}
