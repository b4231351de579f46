//! The checkpoints of a run: small, for the journal holds what happened. Each says where the run stood, and
//! pins what a fork of it takes over.

use std::sync::{Mutex, PoisonError};

use interrupts::store::{Checkpoint, CheckpointDraft, CheckpointId, StoreError};
use interrupts::{KindName, NameError};
use routing_core::{InterruptId, NodeId};
use serde::{Deserialize, Serialize};

use super::error::KeepError;
use super::journal::RunJournal;
use crate::run::{NodeState, NodeView};

/// The version of the form.
const FORM: u32 = 1;

/// Where a run stood when a checkpoint of it was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSnapshot {
    /// Why it was saved.
    pub reason: String,
    /// How many steps the run had taken.
    pub steps: u32,
    /// Its nodes, in the order in which they came to be.
    pub nodes: Vec<NodeSnapshot>,
    /// Its open interrupts.
    pub interrupts: Vec<InterruptId>,
    /// What came of it, once its work is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// A node in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSnapshot {
    /// Its id.
    pub node: NodeId,
    /// Its kind.
    pub kind: KindName,
    /// What it did.
    pub state: NodeState,
}

impl NodeSnapshot {
    /// A node as it stands.
    pub fn of(view: NodeView) -> Result<Self, NameError> {
        Ok(Self {
            node: view.node,
            kind: KindName::new(view.kind)?,
            state: view.state,
        })
    }
}

impl RunSnapshot {
    /// The version of the form that this program writes, and the newest one that it reads.
    pub const FORM: u32 = FORM;

    /// Reads what a checkpoint holds.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self, KeepError> {
        if checkpoint.form != Self::FORM {
            return Err(KeepError::OtherForm {
                checkpoint: checkpoint.id,
                found: checkpoint.form,
                known: Self::FORM,
            });
        }
        if !checkpoint.is_whole() {
            let checkpoint = checkpoint.id;
            return Err(KeepError::Store(StoreError::DamagedCheckpoint {
                checkpoint,
            }));
        }
        serde_json::from_str(&checkpoint.content).map_err(|source| KeepError::Unreadable {
            place: format!("checkpoint {}", checkpoint.id),
            source,
        })
    }
}

/// Why a run cannot go on from a checkpoint: it is of another version of the program, or damaged.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct UnreadCheckpoint(#[from] KeepError);

/// The checkpoints that this process has saved.
#[derive(Debug, Default)]
pub struct Checkpoints {
    last: Mutex<Option<CheckpointId>>,
}

impl Checkpoints {
    /// The last one.
    pub fn last(&self) -> Option<CheckpointId> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run goes on from this one.
    pub fn go_on_from(&self, checkpoint: Option<CheckpointId>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = checkpoint;
    }

    pub async fn save(
        &self,
        journal: &RunJournal,
        snapshot: &RunSnapshot,
    ) -> Result<CheckpointId, KeepError> {
        let content = serde_json::to_string(snapshot)?;
        self.save_content(journal, FORM, content).await
    }

    /// Saves a checkpoint of any form.
    pub async fn save_content(
        &self,
        journal: &RunJournal,
        form: u32,
        content: String,
    ) -> Result<CheckpointId, KeepError> {
        let record = &journal.record;
        let draft = CheckpointDraft {
            run: record.run,
            epoch: record.epoch()?,
            parent: self.last(),
            form,
            content,
            intents: Vec::new(),
            pending: journal.unfinished(),
        };
        let saved = record.store().save(draft).await?.id;
        self.go_on_from(Some(saved));
        Ok(saved)
    }
}
