//! Checkpoints: where a run can continue from.

use std::fmt::{self, Display};

use async_trait::async_trait;
use interrupt_router::RunId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::interrupt::Page;
use super::journal::{Intent, JournalError};
use crate::digest::{Digest, EffectId};

/// Names a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CheckpointId {
    /// Its run.
    pub run: RunId,
    /// Its number in the run: 1 for the first, and never the same twice.
    pub number: u64,
}

impl Display for CheckpointId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.run, self.number)
    }
}

/// A checkpoint that is to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointDraft {
    /// The run.
    pub run: RunId,
    /// The epoch of its owner.
    pub epoch: u64,
    /// What it continues from; of another run if this one was forked off.
    pub parent: Option<CheckpointId>,
    /// The version of the content's form.
    pub form: u32,
    /// The state of the run, as JSON.
    pub content: String,
    /// Effects that begin with this checkpoint: their intents are recorded in the same transaction.
    pub intents: Vec<Intent>,
    /// Effects that had begun before, and whose results the content does not have yet.
    pub pending: Vec<EffectId>,
}

/// A saved checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Checkpoint {
    /// Its name.
    pub id: CheckpointId,
    /// What it continues from.
    pub parent: Option<CheckpointId>,
    /// The version of the content's form.
    pub form: u32,
    /// The digest of the content, checked whenever it is read.
    pub digest: Digest,
    /// Its pending effects, new ones included.
    pub pending: Vec<EffectId>,
    /// When it was saved.
    pub at: Timestamp,
    /// The store's journal had so many intents and results when it was saved: what a fork takes over.
    pub journal: u64,
    /// The state of the run, as JSON.
    pub content: String,
}

impl Checkpoint {
    /// The checkpoint that a draft becomes.
    pub fn of(draft: &CheckpointDraft, number: u64, journal: u64, now: Timestamp) -> Self {
        let begun = draft.intents.iter().map(|intent| intent.effect);
        Self {
            id: CheckpointId {
                run: draft.run,
                number,
            },
            parent: draft.parent,
            form: draft.form,
            digest: Digest::of(draft.content.as_bytes()),
            pending: draft.pending.iter().copied().chain(begun).collect(),
            at: now,
            journal,
            content: draft.content.clone(),
        }
    }

    /// A checkpoint as an adapter found it: its content with the digest that is stored beside it, whether the content has
    /// that or not.
    pub fn stored(
        id: CheckpointId,
        parent: Option<CheckpointId>,
        form: u32,
        pending: Vec<EffectId>,
        at: Timestamp,
        journal: u64,
        (digest, content): (Digest, String),
    ) -> Self {
        Self {
            id,
            parent,
            form,
            digest,
            pending,
            at,
            journal,
            content,
        }
    }

    /// Whether its content is what was saved.
    pub fn is_whole(&self) -> bool {
        self.digest == Digest::of(self.content.as_bytes())
    }

    /// The checkpoint, if its content is what was saved.
    ///
    /// # Errors
    ///
    /// [`StoreError::DamagedCheckpoint`] if it is not.
    pub fn whole(self) -> Result<Self, StoreError> {
        match self.is_whole() {
            true => Ok(self),
            false => Err(StoreError::DamagedCheckpoint {
                checkpoint: self.id,
            }),
        }
    }
}

/// Why a checkpoint was not saved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// There is no such run.
    #[error("there is no {run}")]
    UnknownRun {
        /// The run.
        run: RunId,
    },
    /// The parent does not exist.
    #[error("there is no checkpoint {parent}")]
    UnknownParent {
        /// The parent.
        parent: CheckpointId,
    },
    /// A newer owner has the run.
    #[error("epoch {given} is not the current one, {current}")]
    Fenced {
        /// The epoch of the request.
        given: u64,
        /// The epoch of the run.
        current: u64,
    },
    /// A pending effect is not in the journal, or an intent was refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps checkpoints.
#[async_trait]
pub trait Checkpoints: Send + Sync {
    /// Saves a checkpoint with the next number of its run, and the intents of the effects that begin with it.
    ///
    /// # Errors
    ///
    /// [`CheckpointError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was saved whole or not at all: look at the last one to see.
    async fn save(&self, draft: CheckpointDraft) -> Result<Checkpoint, CheckpointError>;

    /// A checkpoint.
    ///
    /// # Errors
    ///
    /// [`StoreError::DamagedCheckpoint`] if its content does not have its digest.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn checkpoint(&self, id: CheckpointId) -> Result<Option<Checkpoint>, StoreError>;

    /// The last checkpoint of a run.
    ///
    /// # Errors
    ///
    /// As [`Checkpoints::checkpoint`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn last_checkpoint(&self, run: RunId) -> Result<Option<Checkpoint>, StoreError>;

    /// The checkpoints of a run after a number, in their order. Damaged ones are among them, since a run can continue
    /// from the others. [`Checkpoint::is_whole`] tells them apart.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn checkpoints(&self, run: RunId, page: Page) -> Result<Vec<Checkpoint>, StoreError>;
}
