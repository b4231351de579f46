//! Why a run could not be kept.

use interrupt_router::{InterruptId, RunId};
use interrupts::NameError;
use interrupts::catalogue::CatalogueChange;
use interrupts::life::State;
use interrupts::store::{
    AdmitError, ChangeError, CheckpointError, CheckpointId, FollowError, JournalError,
    PutQuestionError, RunError, StoreError,
};

/// Why a run could not be kept. What was recorded before remains valid, and the run can be resumed from there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    #[error("the run cannot be recorded")]
    Run(#[from] RunError),
    #[error("the run's journal cannot be written")]
    Journal(#[from] JournalError),
    #[error("no checkpoint can be saved")]
    Checkpoint(#[from] CheckpointError),
    /// The workflow describes itself differently than when the run was begun.
    #[error(transparent)]
    OtherCatalogue(#[from] CatalogueChange),
    #[error("an interrupt cannot be recorded")]
    Admit(#[from] AdmitError),
    #[error("an interrupt cannot be changed")]
    Change(#[from] ChangeError),
    #[error("the store cannot be read")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Name(#[from] NameError),
    /// What was recorded is of another form.
    #[error("what the journal holds at {place} cannot be read")]
    Unreadable {
        place: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("a record cannot be written as JSON")]
    Json(#[from] serde_json::Error),
    /// The answer was recorded under another version of its schema, and does not fit this one.
    #[error(
        "the answer that the journal holds at {place} was given for another version of `{schema}` and does not fit this one; resume the run with the version that began it"
    )]
    OtherSchema { place: String, schema: String },
    /// The code takes another path than the recorded one.
    #[error(
        "the journal holds another {what} at {place}; resume the run with the version that began it"
    )]
    Diverged { place: String, what: &'static str },
    /// The checkpoint is of another version.
    #[error(
        "checkpoint {checkpoint} has form {found}, and this program reads form {known}; resume the run with the version that saved it"
    )]
    OtherForm {
        checkpoint: CheckpointId,
        found: u32,
        known: u32,
    },
    /// An agent that was launched could not be recorded.
    #[error("an agent that was launched cannot be recorded: {detail}")]
    Launched { detail: String },
    #[error("{run} has ended as {state} and cannot be resumed")]
    Ended { run: RunId, state: String },
    #[error("there is no {run} in the store")]
    NoRun { run: RunId },
    #[error("{interrupt} is {state} and cannot be decided")]
    NotOpenYet {
        interrupt: InterruptId,
        state: State,
    },
    /// A question was given up, and no one can decide it until it is redriven.
    #[error("{interrupt} is dead-lettered: it was tried too often and can't be decided any more")]
    DeadLettered { interrupt: InterruptId },
    /// A part of the program asked for the journal before it was loaded.
    #[error("the run's journal is not open")]
    NotOpen,
}

impl From<FollowError> for KeepError {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Changed(change) => Self::OtherCatalogue(change),
            FollowError::Run(error) => Self::Run(error),
            FollowError::Refused(refusal) => Self::Change(refusal.into()),
            other => Self::Store(StoreError::Unavailable {
                detail: other.to_string(),
            }),
        }
    }
}

impl From<PutQuestionError> for KeepError {
    fn from(error: PutQuestionError) -> Self {
        match error {
            PutQuestionError::Journal(error) => error.into(),
            PutQuestionError::Admit(error) => error.into(),
            PutQuestionError::Store(error) => error.into(),
            other => Self::Store(StoreError::Unavailable {
                detail: other.to_string(),
            }),
        }
    }
}
