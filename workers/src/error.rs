//! Why a worker's request was not carried out.

use interrupt_router::{NodeId, RunId};
use interrupts::life::{Lease, RunState};
use interrupts::store::{
    AdmitError, ChangeError, CheckpointError, FollowError, JournalError, PutQuestionError,
    RunError, StoreError,
};
use interrupts::{Misfit, NameError};

use crate::key::WorkKey;

/// The most bytes of a reason.
pub(crate) const LONGEST_REASON: usize = 16 << 10;

/// Why a worker's request was not carried out. It may have been recorded in part: send it again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// The workflow was never registered.
    #[error("the workflow `{name}` is not registered")]
    UnknownWorkflow {
        /// Its name.
        name: String,
    },
    /// There is no such run of the workflow.
    #[error("there is no run {run} of this workflow")]
    UnknownRun {
        /// The run.
        run: RunId,
    },
    /// The name of a run belongs to another run.
    #[error("the name belongs to {run}")]
    Taken {
        /// That run.
        run: RunId,
    },
    /// The run is over.
    #[error("{run} is {state}")]
    Ended {
        /// The run.
        run: RunId,
        /// How it ended.
        state: RunState,
    },
    /// The run is paused, and only a person resumes it.
    #[error("{run} is paused")]
    Paused {
        /// The run.
        run: RunId,
    },
    /// Another worker has the run.
    #[error("{} has the run until {}", lease.owner, lease.until)]
    Owned {
        /// Who, and until when.
        lease: Lease,
    },
    /// The worker no longer owns the run.
    #[error(
        "the run was taken in epoch {current}, let go, or stopped: epoch {given} writes nothing"
    )]
    LeaseLost {
        /// The epoch of the request.
        given: u64,
        /// The epoch of the run.
        current: u64,
    },
    /// The workflow has no such kind of agent.
    #[error("the workflow has no kind `{kind}`; it has: {}", known.join(", "))]
    UnknownKind {
        /// The kind.
        kind: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// The agent is of another kind.
    #[error("{node} is a {is}, and no {given}")]
    OtherKind {
        /// The agent.
        node: NodeId,
        /// Its kind.
        is: String,
        /// The kind that the request names.
        given: String,
    },
    /// The agent has ended.
    #[error("{node} has ended")]
    AgentEnded {
        /// The agent.
        node: NodeId,
    },
    /// The run has no such agent.
    #[error("the run has no agent {node}")]
    UnknownAgent {
        /// The agent.
        node: NodeId,
    },
    /// No question was asked with this key.
    #[error("nothing was asked with the key `{key}`")]
    UnknownQuestion {
        /// The key.
        key: WorkKey,
    },
    /// The key was used for another question or effect.
    #[error("the key `{key}` was used before, and this differs: {}", differs.join(", "))]
    OtherContent {
        /// The key.
        key: WorkKey,
        /// The members that differ, as the body names them.
        differs: Vec<String>,
    },
    /// The question does not fit the schema of its kind.
    #[error("the question does not fit the schema of its kind")]
    QuestionMisfits(Vec<Misfit>),
    /// The question is still open.
    #[error("the question `{key}` is not decided")]
    NotDecided {
        /// The key.
        key: WorkKey,
    },
    /// Nothing may be carried out after the question: it was declined, has expired, or was withdrawn.
    #[error("the question `{key}` is {decided_as}, so its answer takes no route")]
    Declined {
        /// The key.
        key: WorkKey,
        /// What became of it.
        decided_as: &'static str,
    },
    /// The answer of the question takes no route.
    #[error("the kind of `{key}` has no routes: the decision is the answer")]
    NoRoute {
        /// The key.
        key: WorkKey,
    },
    /// The model's answer does not fit the one route.
    #[error("the answer does not fit")]
    Rejected {
        /// What does not fit.
        misfits: Vec<Misfit>,
        /// How many more answers are read before a person is asked.
        left: u32,
    },
    /// No effect was begun with this key.
    #[error("no effect was begun with the key `{key}`")]
    UnknownEffect {
        /// The key.
        key: WorkKey,
    },
    /// The effect has another result.
    #[error("the effect `{key}` has another result already")]
    OtherResult {
        /// The key.
        key: WorkKey,
    },
    /// A value of the request cannot be stored.
    #[error("{pointer}: {reason}")]
    Field {
        /// Where in the body, as a JSON pointer.
        pointer: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The run cannot be changed so: its journal is not in a state that this protocol produces.
    #[error("{0}")]
    Unexpected(String),
    /// The stored data of the run cannot be read.
    #[error("what is kept of the run cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The interrupt was not changed.
    #[error(transparent)]
    Change(ChangeError),
    /// The interrupt was not admitted.
    #[error(transparent)]
    Admit(AdmitError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl WorkError {
    /// A field of the request cannot be stored.
    pub(crate) fn field(pointer: &'static str, reason: impl std::fmt::Display) -> Self {
        Self::Field {
            pointer,
            reason: reason.to_string(),
        }
    }

    /// A name in the request is invalid.
    pub(crate) fn name(pointer: &'static str) -> impl FnOnce(NameError) -> Self {
        move |error| Self::field(pointer, error)
    }
}

/// A reason that is stored as it is given.
pub(crate) fn check_reason(reason: &str) -> Result<(), WorkError> {
    if reason.len() <= LONGEST_REASON {
        return Ok(());
    }
    let told = format!(
        "it has {} bytes, and may have {LONGEST_REASON}",
        reason.len()
    );
    Err(WorkError::field("/reason", told))
}

impl From<RunError> for WorkError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the rest of these errors, which may become more, is told in the same way"
    )]
    fn from(error: RunError) -> Self {
        match error {
            RunError::Unknown { run } => Self::UnknownRun { run },
            RunError::Taken { run } => Self::Taken { run },
            RunError::Owned { lease } => Self::Owned { lease },
            RunError::Fenced { given, current } => Self::LeaseLost { given, current },
            RunError::Store(error) => Self::Store(error),
            error => Self::Unexpected(error.to_string()),
        }
    }
}

impl From<JournalError> for WorkError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the rest of these errors, which may become more, is told in the same way"
    )]
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::UnknownRun { run } => Self::UnknownRun { run },
            JournalError::Fenced { given, current } => Self::LeaseLost { given, current },
            JournalError::Store(error) => Self::Store(error),
            error => Self::Unexpected(error.to_string()),
        }
    }
}

impl From<CheckpointError> for WorkError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the rest of these errors, which may become more, is told in the same way"
    )]
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::UnknownRun { run } => Self::UnknownRun { run },
            CheckpointError::Fenced { given, current } => Self::LeaseLost { given, current },
            CheckpointError::Journal(error) => error.into(),
            CheckpointError::Store(error) => Self::Store(error),
            error => Self::Unexpected(error.to_string()),
        }
    }
}

impl From<FollowError> for WorkError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the rest of these errors, which may become more, is told in the same way"
    )]
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Run(error) => error.into(),
            error => Self::Unexpected(error.to_string()),
        }
    }
}

impl From<ChangeError> for WorkError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the rest of these errors, which may become more, is told in the same way"
    )]
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Store(error) => Self::Store(error),
            error => Self::Change(error),
        }
    }
}

impl From<PutQuestionError> for WorkError {
    fn from(error: PutQuestionError) -> Self {
        match error {
            PutQuestionError::Store(error) => Self::Store(error),
            PutQuestionError::Journal(error) => error.into(),
            PutQuestionError::Admit(error) => error.into(),
            error => Self::Unexpected(error.to_string()),
        }
    }
}

impl From<AdmitError> for WorkError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the rest of these errors, which may become more, is told in the same way"
    )]
    fn from(error: AdmitError) -> Self {
        match error {
            AdmitError::Store(error) => Self::Store(error),
            AdmitError::NodeEnded { node, .. } => Self::AgentEnded { node },
            error => Self::Admit(error),
        }
    }
}
