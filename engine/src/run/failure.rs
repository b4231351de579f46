//! Why a run fails.

use std::any::Any;
use std::error::Error;
use std::fmt;

use interrupt_router::InterruptId;
use interrupt_router::ask::AskError;
use interrupt_router::handler::{DecisionError, HandleError};
use interrupt_router::model::ModelError;
use tokio::task::JoinError;

use crate::durable::control::{StepsTaken, Trouble};
use journal::error::KeepError;

/// Why a run fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The model gave no answer, or its answer could not be recorded.
    #[error("{node} has no answer of its model")]
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
    /// The run took as many steps as it may.
    #[error(transparent)]
    StepLimit(#[from] StepLimitReached),
    /// The ids of nodes have become too long.
    #[error(transparent)]
    NodeId(#[from] interrupt_router::ParseIdError),
    /// A record cannot be written as JSON.
    #[error("a record cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// The run's bookkeeping is broken.
    #[error("the run lost track of itself: {detail}")]
    Lost {
        /// How.
        detail: &'static str,
    },
    /// What the workflow says of itself.
    #[error(transparent)]
    Workflow(Box<WorkflowError>),
    /// A part of the program panicked.
    #[error("a task of the run panicked: {detail}")]
    Panicked {
        /// What it said.
        detail: String,
    },
}

/// A run took as many steps as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", at_limit(*taken, *limit))]
pub struct StepLimitReached {
    /// How many it took, across all processes.
    pub taken: u32,
    /// The limit of all of them.
    pub limit: u32,
}

/// A failure that the workflow itself reports.
#[derive(Debug)]
pub struct WorkflowError {
    /// What is wrong.
    error: Box<dyn Error + Send + Sync + 'static>,
    /// What may help.
    hint: Option<&'static str>,
    /// Whether the run itself is fine, and can go on from where it is.
    resumable: bool,
}

impl fmt::Display for WorkflowError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(formatter)
    }
}

impl Error for WorkflowError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

impl RunError {
    /// A failure of the workflow's own, which ends its run for good.
    pub fn of_workflow(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Workflow(Box::new(WorkflowError {
            error: source.into(),
            hint: None,
            resumable: false,
        }))
    }

    /// A failure of the workflow's own after which its run can go on from where it is, and what may help.
    pub fn resumable(source: impl Into<Box<dyn Error + Send + Sync>>, hint: &'static str) -> Self {
        Self::Workflow(Box::new(WorkflowError {
            error: source.into(),
            hint: Some(hint),
            resumable: true,
        }))
    }

    /// The whole chain of causes, the outermost first.
    pub fn chain(&self) -> String {
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

    /// Whether the run could not be recorded. What was recorded before is kept, so the run has not failed: it can be
    /// resumed.
    pub fn is_of_the_store(&self) -> bool {
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
            if is_model || is_decision || error.is::<KeepError>() {
                return true;
            }
            cause = error.source();
        }
        // A transparent error hides its source from the chain.
        matches!(self, Self::Keep(_))
            || matches!(
                self,
                Self::Interrupt {
                    source: HandleError::Decision(DecisionError::Unavailable(_)),
                    ..
                }
            )
    }

    /// Why a run that could not be recorded has stopped.
    pub fn stands_because(&self) -> String {
        if let Self::Keep(
            KeepError::OtherForm { .. }
            | KeepError::OtherCatalogue(_)
            | KeepError::Unreadable { .. }
            | KeepError::OtherSchema { .. }
            | KeepError::Diverged { .. },
        ) = self
        {
            return self.chain();
        }
        "its store failed".to_owned()
    }

    /// Whether the run can go on from where it is, because its own state is fine. A model's failure is not in the
    /// journal, so the call is made again.
    pub fn is_resumable(&self) -> bool {
        self.is_of_the_store()
            || matches!(self, Self::StepLimit(_))
            || matches!(self, Self::Workflow(error) if error.resumable)
            || self.dead_letter().is_some()
            || self.model_error().is_some()
    }

    /// The interrupt that no one can decide until it is redriven.
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
            | Self::StepLimit(_)
            | Self::NodeId(_)
            | Self::Json(_)
            | Self::Lost { .. }
            | Self::Panicked { .. }
            | Self::Workflow(_) => None,
        }
    }

    /// What is kept of it.
    pub fn trouble(&self) -> Trouble {
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
            limit_hit: matches!(self, Self::StepLimit(_)),
            steps: self.steps(),
        }
    }

    /// The steps of a run that has taken as many as it may.
    fn steps(&self) -> Option<StepsTaken> {
        let Self::StepLimit(StepLimitReached { taken, limit }) = self else {
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
            | Self::StepLimit(_)
            | Self::NodeId(_)
            | Self::Json(_)
            | Self::Lost { .. }
            | Self::Panicked { .. }
            | Self::Workflow(_) => None,
        }
    }

    /// What may help, if anything is known to.
    pub fn hint(&self) -> Option<String> {
        if let Self::Keep(KeepError::OtherCatalogue(_)) = self {
            let hint = "what was recorded stands; `irq resume RUN --accept-catalogue` goes on with this version, and asks again what is open";
            return Some(hint.to_owned());
        }
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
        if let Self::Workflow(error) = self
            && let Some(hint) = error.hint
        {
            return Some(hint.to_owned());
        }
        if let Self::StepLimit(StepLimitReached { taken, .. }) = self {
            return Some(format!(
                "`irq replay RUN` shows whether its agents go in circles; else resume it with --max-steps above {taken}"
            ));
        }
        self.model_error().map(|error| llm::hint(error).to_owned())
    }

    /// The model's own error, if one is the cause.
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

/// That a run took as many steps as it may, or more if the limit was lowered since.
fn at_limit(taken: u32, limit: u32) -> String {
    if taken <= limit {
        return format!("the run has taken {taken} steps, which is its limit");
    }
    format!(
        "the run has taken {taken} steps in all, and its limit, which counts all of them, is {limit}"
    )
}

/// The error of a task that panicked, or was cancelled.
pub fn broken_off(error: JoinError) -> RunError {
    match error.try_into_panic() {
        Ok(panic) => panicked(&*panic),
        Err(cancelled) => RunError::Panicked {
            detail: cancelled.to_string(),
        },
    }
}

/// The error of a task with this panic.
pub fn panicked(panic: &(dyn Any + Send)) -> RunError {
    let detail = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text".to_owned());
    RunError::Panicked { detail }
}
