//! Checkpoints: any state of a worker, beside what every reader sees of its run.

use interrupt_router::InterruptId;
use interrupts::store::{Checkpoint, CheckpointDraft, Run};
use jiff::Timestamp;
use journal::{NodeSnapshot, RunSnapshot};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{WorkError, check_reason};
use crate::owned::Owned;
use crate::protocol::Protocol;

/// The most bytes of a worker's state.
const LARGEST_STATE: usize = 8 << 20;

/// A checkpoint as a worker saved it.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerCheckpoint {
    /// Its number in the run.
    pub number: u64,
    /// When it was saved.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
    /// The worker's state.
    pub state: Value,
}

/// What is stored: the same as for any run, and the worker's state.
#[derive(Serialize, Deserialize)]
struct StoredCheckpoint {
    #[serde(flatten)]
    snapshot: RunSnapshot,
    #[serde(default)]
    state: Value,
}

impl Owned<'_> {
    /// Saves a state.
    ///
    /// # Errors
    ///
    /// [`WorkError::Field`] if it, or the reason, is too large; [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was saved whole or not at all.
    pub async fn save(&self, state: Value, reason: String) -> Result<WorkerCheckpoint, WorkError> {
        check_reason(&reason)?;
        let saved = self.saved(state.clone(), reason.clone(), None).await?;
        Ok(WorkerCheckpoint {
            number: saved.id.number,
            at: saved.at,
            reason,
            state,
        })
    }

    pub(crate) async fn saved(
        &self,
        state: Value,
        reason: String,
        result: Option<String>,
    ) -> Result<Checkpoint, WorkError> {
        let agents = self.all_agents().await?;
        let kept = StoredCheckpoint {
            snapshot: RunSnapshot {
                reason,
                steps: agents.iter().map(|row| row.step).max().unwrap_or_default(),
                nodes: agents.into_iter().map(NodeSnapshot::from).collect(),
                interrupts: self.open().await?,
                result,
            },
            state,
        };
        let content = serde_json::to_string(&kept)?;
        if content.len() > LARGEST_STATE {
            let reason = format!(
                "it has {} bytes, and may have {LARGEST_STATE}",
                content.len()
            );
            return Err(WorkError::field("/state", reason));
        }
        let draft = CheckpointDraft {
            run: self.run.id,
            epoch: self.epoch(),
            parent: self.run.goes_on_from(),
            form: RunSnapshot::FORM,
            content,
            intents: Vec::new(),
            pending: Vec::new(),
        };
        Ok(self.store().save(draft).await?)
    }

    async fn open(&self) -> Result<Vec<InterruptId>, WorkError> {
        let live = self.protocol.live(self.run.id).await?;
        Ok(live.into_iter().map(|it| it.id).collect())
    }
}

impl Protocol<'_> {
    /// The last checkpoint of a run; `None` before the first.
    ///
    /// # Errors
    ///
    /// [`WorkError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn last_checkpoint(&self, run: &Run) -> Result<Option<WorkerCheckpoint>, WorkError> {
        let Some(saved) = self.store.last_checkpoint(run.id).await? else {
            return Ok(None);
        };
        let kept: StoredCheckpoint = serde_json::from_str(&saved.content)?;
        Ok(Some(WorkerCheckpoint {
            number: saved.id.number,
            at: saved.at,
            reason: kept.snapshot.reason,
            state: kept.state,
        }))
    }

    /// The result of a completed run.
    pub(crate) async fn result_of(&self, run: &Run) -> Result<Option<Value>, WorkError> {
        let Some(saved) = self.store.last_checkpoint(run.id).await? else {
            return Ok(None);
        };
        let kept: StoredCheckpoint = serde_json::from_str(&saved.content)?;
        let result = kept.snapshot.result;
        Ok(result.map(|text| serde_json::from_str(&text)).transpose()?)
    }
}
