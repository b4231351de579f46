//! A checkpoint as callers see it.

use interrupts::store::Checkpoint;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A checkpoint as callers see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct CheckpointView {
    /// Its id.
    pub(crate) checkpoint_id: String,
    /// Its number in its run.
    pub(crate) number: u64,
    /// What it goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    /// When it was saved.
    pub(crate) at: String,
    /// How many effects had begun and had no result yet.
    pub(crate) pending_effects: usize,
    /// The digest of its content.
    pub(crate) digest: String,
    /// Whether its content is not what was saved: no run goes on from it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) damaged: bool,
    /// The state of the run, as the workflow wrote it.
    pub(crate) state: Value,
}

/// A part of the checkpoints of a run.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct CheckpointPage {
    /// The checkpoints.
    pub(crate) checkpoints: Vec<CheckpointView>,
    /// Where the next part begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

impl CheckpointView {
    /// A checkpoint.
    pub(crate) fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            checkpoint_id: checkpoint.id.to_string(),
            number: checkpoint.id.number,
            parent: checkpoint.parent.map(|parent| parent.to_string()),
            at: checkpoint.at.to_string(),
            pending_effects: checkpoint.pending.len(),
            digest: checkpoint.digest.to_string(),
            damaged: !checkpoint.is_whole(),
            state: serde_json::from_str(&checkpoint.content).unwrap_or_default(),
        }
    }
}
