//! What a stop leaves behind once it has taken hold: the checkpoint, and of a branch the run that was forked there.

use routing_core::{InterruptType, RunId};
use serde::Serialize;

use super::keeper::{KeepError, Keeper};
use crate::life::Interrupt;
use crate::store::{CheckpointId, NewRun, RunError};

/// What a stop leaves behind.
#[derive(Debug, Serialize)]
pub(super) struct LeftBehind {
    /// Where the run can go on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    /// The run that was forked there.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<RunId>,
}

impl LeftBehind {
    /// What stands of it in the decision.
    pub(super) fn content(&self) -> Option<String> {
        self.checkpoint.as_ref()?;
        serde_json::to_string(self).ok()
    }
}

impl Keeper {
    /// What a stop leaves behind that is about to be resolved. A branch is forked here: before it is said to be.
    pub(super) async fn left_behind(
        &self,
        stop: &Interrupt,
        checkpoint: Option<CheckpointId>,
    ) -> Result<LeftBehind, KeepError> {
        if stop.interrupt_type != InterruptType::Branch {
            return Ok(LeftBehind {
                checkpoint: checkpoint.map(|checkpoint| checkpoint.to_string()),
                branch: None,
            });
        }
        let (store, backoff) = (&self.shared.settings.store, &self.shared.settings.backoff);
        let run = backoff.recover(|| store.run(self.run)).await?;
        let run = run.ok_or(RunError::Unknown { run: self.run })?;
        let last = (run.checkpoint > 0).then_some(CheckpointId {
            run: run.id,
            number: run.checkpoint,
        });
        let Some(from) = checkpoint.or(last).or(run.forked_from) else {
            // A run that has not begun has nothing to be forked from: whoever reads the decision sees it.
            return Ok(LeftBehind {
                checkpoint: None,
                branch: None,
            });
        };
        // An interrupt forks one run at most, so its own bits name it.
        let branch = RunId::from_uuid(stop.id.uuid());
        let new = NewRun {
            id: branch,
            alias: None,
            content: run.content,
        };
        let forked = backoff.recover(|| store.fork_run(from, new.clone())).await;
        match forked {
            // Whoever forked it died before the branch was resolved.
            Ok(_) | Err(RunError::Taken { .. }) => Ok(LeftBehind {
                checkpoint: Some(from.to_string()),
                branch: Some(branch),
            }),
            Err(error) => Err(error.into()),
        }
    }
}
