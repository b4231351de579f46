//! The state of a run when a checkpoint of it was saved.

use interrupt_router::{InterruptId, NodeId};
use interrupts::store::{Checkpoint, NodeActivity, NodeRow, StoreError};
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
    #[serde(with = "InCheckpoints")]
    pub state: NodeActivity,
}

/// The names of activities in checkpoints.
#[derive(Serialize, Deserialize)]
#[serde(remote = "NodeActivity", rename_all = "SCREAMING_SNAKE_CASE")]
enum InCheckpoints {
    Pending,
    Ready,
    Running,
    WaitingReview,
    #[serde(rename = "WAITING_INPUT")]
    Paused,
    Completed,
    Failed,
    #[serde(rename = "CANCELED")]
    Cancelled,
    Pruned,
}

impl NodeSnapshot {
    /// A node of this kind that does this.
    ///
    /// # Errors
    ///
    /// [`NameError`] if no store keeps such a kind.
    pub fn new(node: NodeId, kind: &str, state: NodeActivity) -> Result<Self, NameError> {
        let kind = KindName::new(kind)?;
        Ok(Self { node, kind, state })
    }
}

impl From<NodeRow> for NodeSnapshot {
    fn from(row: NodeRow) -> Self {
        Self {
            node: row.node,
            kind: row.kind,
            state: row.activity,
        }
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

#[cfg(test)]
mod tests {
    use interrupts::store::NodeActivity;

    use super::NodeSnapshot;

    #[test]
    fn checkpoints_keep_the_names_that_activities_had() {
        for (activity, name) in [
            (NodeActivity::WaitingReview, "WAITING_REVIEW"),
            (NodeActivity::Paused, "WAITING_INPUT"),
            (NodeActivity::Cancelled, "CANCELED"),
        ] {
            let node = "root".to_owned().try_into().unwrap();
            let snapshot = NodeSnapshot::new(node, "WRITER", activity).unwrap();
            let text = serde_json::to_string(&snapshot).unwrap();
            assert!(text.contains(&format!("\"state\":\"{name}\"")), "{text}");
            let read: NodeSnapshot = serde_json::from_str(&text).unwrap();
            assert_eq!(read, snapshot);
        }
    }
}
