//! The state of a run when a checkpoint of it was saved.

use interrupt_router::{InterruptId, NodeId};
use interrupts::store::{Checkpoint, StoreError};
use interrupts::{KindName, NameError};
use serde::{Deserialize, Serialize};

use crate::error::KeepError;

/// The state of a run when a checkpoint of it was saved.
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

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum NodeState {
    /// It is known and has nothing to do yet.
    Pending,
    /// It has its request and waits for its turn.
    Ready,
    /// It works.
    Running,
    /// Its interrupt waits for a decision.
    WaitingReview,
    /// It is paused and waits to be resumed.
    WaitingInput,
    /// It has done its work.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped.
    Canceled,
    /// It was cut off, with all below it.
    Pruned,
}

impl NodeState {
    /// Whether a node that does this is at its end.
    pub const fn has_ended(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Canceled | Self::Pruned => true,
            Self::Pending
            | Self::Ready
            | Self::Running
            | Self::WaitingReview
            | Self::WaitingInput => false,
        }
    }
}

impl NodeSnapshot {
    /// A node of this kind that does this.
    ///
    /// # Errors
    ///
    /// [`NameError`] if no store keeps such a kind.
    pub fn new(node: NodeId, kind: &str, state: NodeState) -> Result<Self, NameError> {
        let kind = KindName::new(kind)?;
        Ok(Self { node, kind, state })
    }
}

impl RunSnapshot {
    /// The version of the form that this program writes, and the newest one that it reads.
    pub const FORM: u32 = 1;

    /// Reads the content of a checkpoint.
    ///
    /// # Errors
    ///
    /// [`KeepError`] if it is of another form, or damaged.
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
pub struct InvalidCheckpoint(#[from] KeepError);
