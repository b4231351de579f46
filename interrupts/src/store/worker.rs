//! The workers that execute runs: which ones there are, how much each has taken, and what it has.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use crate::label::Labels;
use crate::names::OwnerName;

/// What a worker reports of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerState {
    /// How many runs it executes at once.
    pub slots: u32,
    /// How many it has.
    pub taken: u32,
    /// What it has beside them, that runs may need.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

impl WorkerState {
    /// How many more runs it takes.
    pub const fn free(&self) -> u32 {
        self.slots.saturating_sub(self.taken)
    }
}

/// A worker that has reported itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerRow {
    /// The name under which it owns runs.
    pub name: OwnerName,
    /// What it has reported.
    #[serde(flatten)]
    pub state: WorkerState,
    /// When the report expires.
    pub until: Timestamp,
}

/// Workers report themselves so that, of several that could take a run, one does. It is a hint:
/// [`own_run`](super::Runs::own_run) alone decides who owns a run. The reports are neither announced nor audited.
#[async_trait]
pub trait Workers: Send + Sync {
    /// Reports a worker's state, for as long as `lease`; for no time at all if it leaves. Workers whose time is over
    /// are forgotten.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn tell_worker(
        &self,
        name: &OwnerName,
        state: WorkerState,
        lease: SignedDuration,
    ) -> Result<(), StoreError>;

    /// The workers whose time is not over, by their names.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn workers(&self) -> Result<Vec<WorkerRow>, StoreError>;
}
