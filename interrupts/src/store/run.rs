//! Runs as a store keeps them, and who owns them.

use async_trait::async_trait;
use interrupt_router::{NodeId, RunId};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::checkpoint::CheckpointId;
use super::error::StoreError;
use super::interrupt::{Delivery, Page, PageBack};
use super::journal::KnownEffect;
use super::pending::PendingInput;
use crate::digest::Digest;
use crate::life::{Lease, RunState};
use crate::names::KindName;

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The client's own name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// What it is to do, as JSON.
    pub content: String,
    /// Its state.
    pub state: RunState,
    /// Why it is in that state, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The process that owns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Counts its owners; what an older owner writes is refused.
    pub epoch: u64,
    /// For how long its last owners had it, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<RunHold>,
    /// Counts the changes.
    pub version: u64,
    /// The number of its last checkpoint; 0 before the first.
    pub checkpoint: u64,
    /// The checkpoint that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<CheckpointId>,
    /// The node that it begins with, where that was recorded with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<RootNode>,
    /// The catalogue that it continues under, once its owner has said which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<Digest>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl Run {
    /// A run that has just been created.
    pub fn created(new: NewRun, now: Timestamp) -> Self {
        Self {
            id: new.id,
            alias: new.alias,
            content: new.content,
            state: RunState::Created,
            reason: None,
            lease: None,
            epoch: 0,
            holds: Vec::new(),
            version: 1,
            checkpoint: 0,
            forked_from: None,
            root: new.root,
            catalogue: None,
            created_at: now,
            ended_at: None,
        }
    }

    /// The checkpoint that it continues from: its last one, or the one that it was forked from.
    pub const fn goes_on_from(&self) -> Option<CheckpointId> {
        match self.checkpoint {
            0 => self.forked_from,
            number => Some(CheckpointId {
                run: self.id,
                number,
            }),
        }
    }

    /// Whether its owner's lease is valid at a time. It may be valid even if the owner is known to be gone.
    pub fn is_owned(&self, now: Timestamp) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.until > now)
    }

    /// Its state as its nodes have it: a run that was left at work waits for a process to continue it, since no process
    /// executes it any more.
    pub const fn state_for_nodes(&self, is_executed: bool) -> RunState {
        match self.state {
            RunState::Running | RunState::Stopping if !is_executed => RunState::Waiting,
            RunState::Created
            | RunState::Running
            | RunState::Stopping
            | RunState::Paused
            | RunState::Waiting
            | RunState::Completed
            | RunState::Failed
            | RunState::Cancelled => self.state,
        }
    }
}

/// For how long an owner had a run, counted in renewals of its lease instead of by the clock: it renews the lease at a
/// fixed interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHold {
    /// The epoch in which it had it.
    pub epoch: u64,
    /// How often it has renewed its lease.
    pub renewals: u32,
}

impl RunHold {
    /// How many are kept: one counts until the next process that works on the run has read it.
    pub const MOST: usize = 8;
}

/// The node that a run begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootNode {
    /// Its id.
    pub node: NodeId,
    /// Its kind.
    pub kind: KindName,
}

/// A run that is to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// The client's own name for it: no other run has it.
    pub alias: Option<String>,
    /// What it is to do, as JSON.
    pub content: String,
    /// The node that it begins with, which is recorded with the run: from then on the run can be addressed and
    /// stopped. `None` if the owner records the node itself. A fork has that of the run that it leaves.
    pub root: Option<RootNode>,
}

/// What is a fork's own from its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForkStart {
    /// What is said to it: an entry of its journal after those that it takes over.
    pub said: Option<KnownEffect>,
    /// Whether it goes on without what the other run was told and has not carried out, messages included. That stays there.
    pub drops_pending: bool,
    /// The run that it leaves, where that has no checkpoint of its own and goes on from the one that it was itself forked at.
    pub leaves: Option<RunId>,
}

/// Why a run was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no such run.
    #[error("there is no {run}")]
    Unknown {
        /// The id.
        run: RunId,
    },
    /// The id or the alias belongs to another run.
    #[error("the id or alias belongs to {run}")]
    Taken {
        /// The run that has it.
        run: RunId,
    },
    /// There is no such checkpoint.
    #[error("there is no checkpoint {checkpoint}")]
    NoCheckpoint {
        /// The checkpoint.
        checkpoint: CheckpointId,
    },
    /// A fork would go on without something that the other run was told and has not carried out.
    #[error("{run}: {pending}")]
    Pending {
        /// The other run.
        run: RunId,
        /// What.
        pending: PendingInput,
        /// Whether that run can carry it out: it has not ended.
        goes_on: bool,
    },
    /// Another process owns it.
    #[error("{} owns it until {}", lease.owner, lease.until)]
    Owned {
        /// Who, and until when.
        lease: Lease,
    },
    /// A newer owner has it.
    #[error("epoch {given} is not the current one, {current}")]
    Fenced {
        /// The epoch of the request.
        given: u64,
        /// The epoch of the run.
        current: u64,
    },
    /// Its state does not allow the change.
    #[error("a run that is {from} cannot become {to}")]
    Illegal {
        /// Its state.
        from: RunState,
        /// The wanted state.
        to: RunState,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps runs.
#[async_trait]
pub trait Runs: Send + Sync {
    /// Creates a run. Created again with the same content, it is returned as it is.
    ///
    /// # Errors
    ///
    /// [`RunError::Taken`] if the id or the alias belongs to another one.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was created or not. Create it again to be sure.
    async fn create_run(&self, new: NewRun) -> Result<Run, RunError>;

    /// Creates a run that continues from a checkpoint of another one, and takes over the effects that had results in
    /// the other's journal by then, each at its place. Forked again with the same id, it is returned as it is.
    ///
    /// # Errors
    ///
    /// [`RunError::Taken`] if the id or the alias belongs to another one; [`RunError::NoCheckpoint`];
    /// [`RunError::Pending`] where the other run was told something that it has not carried out, and the fork begins where
    /// that run stands: what was said later than its checkpoint was about something else. Messages that wait hold up any fork.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was forked whole or not at all. Fork it again to be sure.
    async fn fork_run(&self, from: CheckpointId, new: NewRun) -> Result<Run, RunError> {
        self.fork_run_with(from, new, ForkStart::default()).await
    }

    /// As [`Runs::fork_run`], with what is its own from its beginning. The fork's content, and not this, says whether the
    /// fork is the same one.
    ///
    /// # Errors
    ///
    /// As of [`Runs::fork_run`].
    ///
    /// # Cancel safety
    ///
    /// As of [`Runs::fork_run`].
    async fn fork_run_with(
        &self,
        from: CheckpointId,
        new: NewRun,
        start: ForkStart,
    ) -> Result<Run, RunError>;

    /// Makes a process the owner of a run, in a new epoch.
    ///
    /// # Errors
    ///
    /// [`RunError::Owned`] while another owner's lease is valid; [`RunError::Illegal`] if the run has ended.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it may be owned in an epoch that no process knows; the lease runs out.
    async fn own_run(&self, id: RunId, owner: Delivery) -> Result<Run, RunError>;

    /// Extends the owner's lease, never shortens it.
    ///
    /// # Errors
    ///
    /// [`RunError::Fenced`] if a newer owner has it.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn renew_run(
        &self,
        id: RunId,
        epoch: u64,
        lease: SignedDuration,
    ) -> Result<Run, RunError>;

    /// Gives a run up, so that another process may own it at once.
    ///
    /// # Errors
    ///
    /// [`RunError::Fenced`] if a newer owner has it.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn release_run(&self, id: RunId, epoch: u64) -> Result<Run, RunError>;

    /// Changes the state of a run. The interrupts of a run that ends are cancelled with it if they are few, the others
    /// by the next sweep, and no new ones are admitted. A run that already is in the state stays as it is.
    ///
    /// # Errors
    ///
    /// [`RunError::Illegal`] if the state cannot follow; [`RunError::Fenced`] if a newer owner has it.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn change_run(
        &self,
        id: RunId,
        epoch: u64,
        state: RunState,
        reason: Option<String>,
    ) -> Result<Run, RunError>;

    /// A run.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError>;

    /// The run that a client calls by a name of its own.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn run_of(&self, alias: &str) -> Result<Option<Run>, StoreError>;

    /// Runs in the order of their creation, each with its position; of the given states, or all of them if none is
    /// given.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn runs(&self, states: &[RunState], page: Page) -> Result<Vec<(u64, Run)>, StoreError>;

    /// The last runs that were created, newest first, each with its position.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn last_runs(&self, page: PageBack) -> Result<Vec<(u64, Run)>, StoreError>;
}
