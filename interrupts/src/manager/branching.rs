//! What a stop leaves behind once it has taken effect: the checkpoint, and for a branch also the run forked there.

use interrupt_router::{InterruptType, RunId};
use serde::Serialize;

use super::owned_run_state::{KeepError, OwnedRunState};
use crate::life::Interrupt;
use crate::store::{CheckpointId, ForkStart, NewRun, RunError, StoreError};

/// What a stop leaves behind.
#[derive(Debug, Serialize)]
pub(super) struct LeftBehind {
    /// Where the run can continue from.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    /// The run that was forked there.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<RunId>,
    /// Why none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_branched: Option<String>,
}

/// There is no checkpoint to fork from, or it is damaged: the stop takes effect all the same, and delays no other.
const NOTHING: LeftBehind = LeftBehind {
    checkpoint: None,
    branch: None,
    not_branched: None,
};

impl LeftBehind {
    /// The same, and that nothing was forked, because of this.
    fn because(self, why: &impl ToString) -> Self {
        Self {
            not_branched: Some(why.to_string()),
            ..self
        }
    }

    /// Its JSON for the content of the decision.
    pub(super) fn content(&self) -> Option<String> {
        self.checkpoint.as_ref()?;
        serde_json::to_string(self).ok()
    }
}

impl OwnedRunState {
    /// What a stop that is about to be resolved leaves behind. A branch is forked here, before it is reported as forked.
    pub(super) async fn left_behind(
        &self,
        stop: &Interrupt,
        checkpoint: Option<CheckpointId>,
    ) -> Result<LeftBehind, KeepError> {
        let left = LeftBehind {
            checkpoint: checkpoint.map(|checkpoint| checkpoint.to_string()),
            ..NOTHING
        };
        if stop.interrupt_type != InterruptType::Branch {
            return Ok(left);
        }
        let store = &self.shared.settings.store;
        let run = self.read(|| store.run(self.run)).await?;
        let run = run.ok_or(RunError::Unknown { run: self.run })?;
        let Some(from) = checkpoint.or(run.goes_on_from()) else {
            // A run that has not begun has no checkpoint to fork from: the decision shows that.
            return Ok(NOTHING);
        };
        if self.is_damaged(from).await? {
            return Ok(NOTHING);
        }
        let left = LeftBehind {
            checkpoint: Some(from.to_string()),
            ..NOTHING
        };
        // An interrupt forks at most one run, so the run reuses its UUID.
        let branch = RunId::from_uuid(stop.id.uuid());
        let new = NewRun {
            root: None,
            id: branch,
            alias: None,
            content: run.content.clone(),
        };
        let start = ForkStart {
            leaves: Some(self.run),
            ..ForkStart::default()
        };
        let forking = || store.fork_run_with(from, new.clone(), start.clone());
        match self.write(forking).await {
            // `Taken`: the process that forked it died before the branch was resolved.
            Ok(_) | Err(RunError::Taken { .. }) => Ok(LeftBehind {
                branch: Some(branch),
                ..left
            }),
            // The run stops as it was told to, and is not forked: a branch would go on without that.
            Err(RunError::Pending { pending, .. }) => Ok(left.because(&pending)),
            Err(error) => Err(error.into()),
        }
    }

    async fn is_damaged(&self, checkpoint: CheckpointId) -> Result<bool, KeepError> {
        let store = &self.shared.settings.store;
        let look = || async {
            match store.checkpoint(checkpoint).await {
                Err(StoreError::DamagedCheckpoint { .. }) => Ok(true),
                found => found.map(|_found| false),
            }
        };
        Ok(self.read(look).await?)
    }
}
