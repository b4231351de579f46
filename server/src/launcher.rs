//! The port behind which runs are executed.

use async_trait::async_trait;
use interrupts::Digest;
use interrupts::life::Actor;
use interrupts::store::{CheckpointId, Run, StoreError};
use jiff::Timestamp;
use journal::ResumeRequest;
use planning::{PlanEditError, PlanWish, StoredPlan};
use routing_core::RunId;
use serde_json::{Map, Value, json};

/// A run that is to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchOrder {
    /// Its id.
    pub id: RunId,
    /// What it shall reach, in words.
    pub goal: String,
    /// The client's own name for the run.
    pub alias: Option<String>,
    /// Whatever else the launcher understands: a workflow, a model, limits.
    pub options: Map<String, Value>,
    /// Who asks for it.
    pub by: Actor,
}

impl LaunchOrder {
    /// The digest of what is asked for, whoever asks and under whatever id. A launcher keeps it with the run, so that
    /// the same order is known when it comes again.
    pub fn asked(&self) -> Digest {
        let mut asked = json!([self.goal, self.alias, self.options]);
        // In whatever order a client names them.
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
    /// The order cannot be carried out as it stands.
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
        /// Why.
        reason: String,
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

/// A plan that shall be changed while it stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOrder {
    /// Its run.
    pub run: RunId,
    /// How.
    pub wish: PlanWish,
    /// The version of the plan that was looked at; any where it is absent.
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
    /// Another one, unless it is gone and nobody here can know.
    Elsewhere,
    /// Nobody.
    Nobody,
}

/// Executes runs in this process. The server asks it; whoever embeds the server provides it.
#[async_trait]
pub trait RunLauncher: Send + Sync {
    /// Creates a run, begins to execute it, and returns before it ends. Where it was created before by the same order,
    /// it is that one, whatever became of it.
    ///
    /// # Errors
    ///
    /// [`LaunchError`]. No run was created then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run was started or not: start it again with the same id to be sure.
    async fn start(&self, order: LaunchOrder) -> Result<RunId, LaunchError>;

    /// How many results of tools came after their calls had been given up, in the runs that it has executed. They were
    /// dropped.
    fn late_results(&self) -> u64 {
        0
    }

    /// How many runs it has taken over from processes that were gone.
    fn takeovers(&self) -> u64 {
        0
    }

    /// Who executes a run at a time. A lease holds for a while after its process has died: a launcher that knows more
    /// than the lease says so.
    fn holder(&self, run: &Run, now: Timestamp) -> Holder {
        if run.is_owned(now) {
            Holder::Elsewhere
        } else {
            Holder::Nobody
        }
    }

    /// Whether a run that nobody executes goes on without anybody's word, as soon as a server looks that executes runs.
    fn is_taken_up(&self, _run: &Run) -> bool {
        false
    }

    /// Something has come for a run that another process has, and it was told: where it turns out to be gone, as its
    /// lease is not renewed, or lets the run go that stands still, the run is seen to as with [`RunLauncher::wake`].
    fn watch(&self, _run: &Run) {}

    /// Sees to a run that nobody executes, for which something has come: a decision, a stop, a message. It goes on
    /// where that lets it; a run that only a person begins or resumes stays where it is, and what is to be read by it
    /// stays in the store.
    ///
    /// # Errors
    ///
    /// [`LaunchError`], also where the run stays where it is.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn wake(&self, run: RunId) -> Result<(), LaunchError>;

    /// Goes on with a run that nobody executes, since a person says so, and returns before it ends; that it goes on is
    /// recorded by then. Where somebody executes it already, that is no error. The request is kept with the run before
    /// it goes on, as [`ResumeRequest::keep`] does, and what it says is read once, however often the request comes.
    ///
    /// # Errors
    ///
    /// [`LaunchError`]; also where somebody executes the run already and there is input which is not kept and nobody
    /// would read. The run stands where it stood.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn resume(&self, run: RunId, request: ResumeRequest) -> Result<(), LaunchError>;

    /// Creates a run with this id that goes on from a checkpoint of another one, and begins to execute it. Where it
    /// was created before, from the same checkpoint with the same input, it is that one. The input is created with it,
    /// so it never goes on without.
    ///
    /// # Errors
    ///
    /// [`LaunchError`]. With [`LaunchError::Refused`], [`LaunchError::Store`] and [`LaunchError::Unavailable`] the run may
    /// have been created and not begun: fork it again with the same id, and that one begins. With all others none
    /// was created by this request.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run was created and started, created alone, or neither: fork it again with the same id to be sure.
    async fn fork(
        &self,
        checkpoint: CheckpointId,
        id: RunId,
        input: Option<String>,
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

    /// Changes a plan that stands still, with the run's own model where one is needed. The run stays as it is.
    ///
    /// # Errors
    ///
    /// [`PlanOrderError`]. The plan stands as it stood then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was changed or not; its interrupt may be claimed for some minutes. Let it come to its end instead.
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
        _input: Option<String>,
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
