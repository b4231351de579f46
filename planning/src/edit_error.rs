//! Why a plan was not changed.

use interrupt_router::RunId;
use interrupts::life::{Lease, RunState};
use interrupts::store::{ChangeError, RunError, StoreError};
use journal::KeepError;

use crate::event::Refused;
use crate::observer::PlanReadError;

/// Why a plan was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanEditError {
    /// There is no such run.
    #[error("there is no {run}")]
    NoRun {
        /// The run.
        run: RunId,
    },
    /// The run has saved no plan.
    #[error("{run} has no plan yet")]
    NoPlan {
        /// The run.
        run: RunId,
    },
    /// It is not stopped for a person.
    #[error("{run} is {state}, and not paused for review")]
    NotHeld {
        /// The run.
        run: RunId,
        /// Its state.
        state: RunState,
    },
    /// Another process has the run.
    #[error("{} has the run until {}", lease.owner, lease.until)]
    Owned {
        /// Which, and until when.
        lease: Lease,
    },
    /// The plan is not what was looked at.
    #[error("the plan has version {current} now, not {given}")]
    OtherVersion {
        /// What was looked at.
        given: usize,
        /// What it is.
        current: usize,
    },
    /// The interrupt could not be claimed.
    #[error("{interrupt} cannot be claimed")]
    Unclaimed {
        /// The interrupt that the plan waits on.
        interrupt: interrupt_router::InterruptId,
        /// Why not.
        #[source]
        source: ChangeError,
    },
    /// A decision that only the run can carry out is still pending: the run has not gone on since.
    #[error("what was decided about the plan of {run} is not carried out yet")]
    NotCarriedOut {
        /// The run.
        run: RunId,
    },
    /// The change does not fit the plan.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The model gave no suggestion.
    #[error("the model suggests nothing: {reason}")]
    NoSuggestion {
        /// Why.
        reason: String,
    },
    /// What is stored cannot be read as a plan.
    #[error(transparent)]
    Unreadable(#[from] PlanReadError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was done could not be recorded.
    #[error("the change of the plan is not recorded")]
    Unrecorded(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<KeepError> for PlanEditError {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Run(RunError::Owned { lease }) => Self::Owned { lease },
            KeepError::Store(error) => Self::Store(error),
            other @ (KeepError::Run(_)
            | KeepError::Journal(_)
            | KeepError::Checkpoint(_)
            | KeepError::Admit(_)
            | KeepError::Change(_)
            | KeepError::OtherCatalogue(_)
            | KeepError::Name(_)
            | KeepError::Unreadable { .. }
            | KeepError::Json(_)
            | KeepError::OtherSchema { .. }
            | KeepError::Diverged { .. }
            | KeepError::OtherForm { .. }
            | KeepError::Ended { .. }
            | KeepError::NoRun { .. }
            | KeepError::NotOpenYet { .. }
            | KeepError::DeadLettered { .. }
            | KeepError::Launched { .. }
            | KeepError::NotOpen
            | _) => Self::Unrecorded(Box::new(other)),
        }
    }
}
