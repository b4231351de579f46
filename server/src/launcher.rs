//! The port for executing runs.

use async_trait::async_trait;
use control::ResumeOrder;
use interrupt_router::RunId;
use interrupts::life::Actor;
use interrupts::store::{CheckpointId, Run, StoreError};
use interrupts::{Digest, OwnerName};
use jiff::Timestamp;
use journal::ResumeRequest;
use planning::{PlanChangeRequest, PlanEditError, StoredPlan};
use serde_json::{Map, Value, json};

/// A run that is to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchOrder {
    /// Its id.
    pub id: RunId,
    /// Its goal, in words.
    pub goal: String,
    /// The client's own name for the run.
    pub alias: Option<String>,
    /// Anything else that the launcher understands: a workflow, a model, limits.
    pub options: Map<String, Value>,
    /// Who asks for it.
    pub by: Actor,
}

impl LaunchOrder {
    /// The digest of the request, whatever its caller and its id. A launcher stores it with the run, so that
    /// it recognises the same order when it comes again.
    pub fn asked(&self) -> Digest {
        let mut asked = json!([self.goal, self.alias, self.options]);
        // Independent of the order in which a client names them.
        asked.sort_all_objects();
        Digest::of(asked.to_string().as_bytes())
    }
}

/// Why a run was not started or continued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// This process executes no runs.
    #[error("this server executes no runs")]
    Unsupported,
    /// The order cannot be carried out as it is.
    #[error("{field}: {reason}")]
    Order {
        /// Which part of the order.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The id or the alias belongs to a run that was ordered otherwise.
    #[error("the name belongs to {run}")]
    Taken {
        /// That run.
        run: RunId,
    },
    /// The run cannot go on.
    #[error("{reason}")]
    Refused {
        /// What kind of refusal it is.
        refusal: LaunchRefusal,
        /// Why.
        reason: String,
        /// What to do instead, if that is known.
        hint: Option<String>,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something else below failed; it may work later.
    #[error("{detail}")]
    Unavailable {
        /// What.
        detail: String,
    },
}

/// What kind of refusal it is that a run cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchRefusal {
    /// There is no such run or checkpoint.
    Unknown,
    /// The run is in another state.
    State,
    /// Nothing can be done so with the run.
    Order,
}

impl LaunchError {
    /// That a run is in another state, with nothing known of what to do instead.
    pub fn in_state(reason: impl Into<String>) -> Self {
        Self::Refused {
            refusal: LaunchRefusal::State,
            reason: reason.into(),
            hint: None,
        }
    }
}

/// A change of a plan that is on hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOrder {
    /// Its run.
    pub run: RunId,
    /// How.
    pub wish: PlanChangeRequest,
    /// The version of the plan that the caller saw; any if absent.
    pub if_version: Option<usize>,
    /// Who asks for it.
    pub by: Actor,
}

/// Why a plan was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanOrderError {
    /// This process cannot change it.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The plan cannot be changed so.
    #[error(transparent)]
    Edit(#[from] PlanEditError),
}

/// Who executes a run, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// This process.
    Here,
    /// Another process, unless it is gone and this one cannot know.
    Elsewhere,
    /// No process.
    Nobody,
}

/// Executes runs in this process. The server calls it; the program that embeds the server provides it.
#[async_trait]
pub trait RunLauncher: Send + Sync {
    /// Creates a run, begins to execute it, and returns before it ends. If the same order created it before, returns
    /// that run, whatever became of it.
    ///
    /// # Errors
    ///
    /// [`LaunchError`]. No run was created then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run was started or not: start it again with the same id to be sure.
    async fn start(&self, order: LaunchOrder) -> Result<RunId, LaunchError>;

    /// How many results of tools came after their calls had been abandoned, in the runs that it has executed. They were
    /// dropped.
    fn late_results(&self) -> u64 {
        0
    }

    /// How many runs it has taken over from processes that were gone.
    fn takeovers(&self) -> u64 {
        0
    }

    /// Who executes a run at a time. A lease lasts for a while after its process has died: a launcher that knows more
    /// than the lease says so.
    fn holder(&self, run: &Run, now: Timestamp) -> Holder {
        if run.is_owned(now) {
            Holder::Elsewhere
        } else {
            Holder::Nobody
        }
    }

    /// Whether an owner of runs is known to be gone before its lease is over. Whether a process lives is seen on its own
    /// machine alone.
    fn is_gone(&self, _owner: &OwnerName) -> bool {
        false
    }

    /// Whether a run without a process continues without a person, as soon as a server that executes runs looks.
    fn is_taken_up(&self, _run: &Run) -> bool {
        false
    }

    /// Something has come for a run that another process owns, and that process was notified. If it turns out to be gone, as its
    /// lease is not renewed, or releases a run that is at rest, the run is handled as by [`RunLauncher::wake`].
    fn watch(&self, _run: &Run) {}

    /// Handles a run that no process executes and for which something has come: a decision, a stop, a message. The run
    /// continues if that lets it; a run that only a person starts or resumes stays where it is, and what it is to read
    /// stays in the store.
    ///
    /// # Errors
    ///
    /// [`LaunchError`], also if the run stays where it is.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn wake(&self, run: RunId) -> Result<(), LaunchError>;

    /// Continues a run that no process executes, because a person says so, and returns before it ends; by then it is recorded
    /// that it continues. If a process already executes it, that is no error. The request is kept with the run before it
    /// continues, as [`ResumeRequest::keep`] does, and its input is read once, however often the request comes.
    ///
    /// # Errors
    ///
    /// [`LaunchError`]; also if a process already executes the run and there is input which is not kept and no one
    /// would read. The run stays as it was.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn resume(&self, run: RunId, request: ResumeRequest) -> Result<(), LaunchError>;

    /// Creates a run with this id that continues from a checkpoint of another run, and begins to execute it. If it was
    /// created before, from the same checkpoint with the same input, returns that run. The input is created with it, so
    /// it never continues without.
    ///
    /// # Errors
    ///
    /// [`LaunchError`]. With [`LaunchError::Refused`], [`LaunchError::Store`] and [`LaunchError::Unavailable`] the run
    /// may have been created and not started: fork it again with the same id, and that one starts. With all others this
    /// request created none.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run was created and started, created alone, or neither: fork it again with the same id to be sure.
    async fn fork(
        &self,
        checkpoint: CheckpointId,
        id: RunId,
        order: ResumeOrder,
        by: Actor,
    ) -> Result<RunId, LaunchError>;

    /// Switches a run without an owner to the catalogue of its workflow in this program; see
    /// [`follow_catalogue`](interrupts::store::Catalogues::follow_catalogue).
    ///
    /// # Errors
    ///
    /// [`LaunchError`]; also if a process owns the run, or an open question cannot be answered with the catalogue.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn accept_catalogue(&self, run: RunId, by: Actor) -> Result<(), LaunchError>;

    /// Changes a plan that is on hold, with the run's own model if one is needed. The run stays as it is.
    ///
    /// # Errors
    ///
    /// [`PlanOrderError`]. The plan is unchanged then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was changed or not; its interrupt may stay claimed for some minutes. Let it finish instead.
    async fn change_plan(&self, order: PlanOrder) -> Result<StoredPlan, PlanOrderError>;
}

/// Executes nothing: for a server that only shows and decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLauncher;

#[async_trait]
impl RunLauncher for NoLauncher {
    async fn start(&self, _order: LaunchOrder) -> Result<RunId, LaunchError> {
        Err(LaunchError::Unsupported)
    }

    async fn wake(&self, _run: RunId) -> Result<(), LaunchError> {
        Err(LaunchError::Unsupported)
    }

    async fn resume(&self, _run: RunId, _request: ResumeRequest) -> Result<(), LaunchError> {
        Err(LaunchError::Unsupported)
    }

    async fn fork(
        &self,
        _checkpoint: CheckpointId,
        _id: RunId,
        _order: ResumeOrder,
        _by: Actor,
    ) -> Result<RunId, LaunchError> {
        Err(LaunchError::Unsupported)
    }

    async fn accept_catalogue(&self, _run: RunId, _by: Actor) -> Result<(), LaunchError> {
        Err(LaunchError::Unsupported)
    }

    async fn change_plan(&self, _order: PlanOrder) -> Result<StoredPlan, PlanOrderError> {
        Err(LaunchError::Unsupported.into())
    }
}
