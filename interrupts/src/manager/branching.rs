//! What a stop leaves behind once it has taken effect: the checkpoint, and for a branch also the run forked there.

use async_trait::async_trait;
use routing_core::{InterruptType, RunId};
use serde::Serialize;

use super::owned_run_state::{KeepError, OwnedRunState};
use crate::life::Interrupt;
use crate::store::{CheckpointId, KnownEffect, NewRun, Pages, Run, RunError, Store, StoreError};

/// How many journal entries are read together.
const ENTRIES: u32 = 1_000;

/// Knows what a fork inherits from its run beyond what that had recorded by the checkpoint.
#[async_trait]
pub trait Heritage: Send + Sync {
    /// The messages to a run and the decisions about it that were not read by this checkpoint, if the run is still at it.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn of(
        &self,
        store: &dyn Store,
        run: &Run,
        from: CheckpointId,
    ) -> Result<Vec<KnownEffect>, StoreError>;
}

/// A fork inherits only what the journal had at its checkpoint.
#[derive(Debug, Clone, Copy)]
pub struct NoHeritage;

#[async_trait]
impl Heritage for NoHeritage {
    async fn of(
        &self,
        _store: &dyn Store,
        _run: &Run,
        _from: CheckpointId,
    ) -> Result<Vec<KnownEffect>, StoreError> {
        Ok(Vec::new())
    }
}

/// What a stop leaves behind.
#[derive(Debug, Serialize)]
pub(super) struct LeftBehind {
    /// Where the run can continue from.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    /// The run that was forked there.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<RunId>,
}

/// There is no checkpoint to fork from, or it is damaged: the stop takes effect all the same, and delays no other.
const NOTHING: LeftBehind = LeftBehind {
    checkpoint: None,
    branch: None,
};

impl LeftBehind {
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
        if stop.interrupt_type != InterruptType::Branch {
            return Ok(LeftBehind {
                checkpoint: checkpoint.map(|checkpoint| checkpoint.to_string()),
                branch: None,
            });
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
        let mut known = if from.run == self.run {
            Vec::new()
        } else {
            self.unread_messages().await?
        };
        let heritage = &self.shared.settings.heritage;
        let left = self.read(|| heritage.of(&**store, &run, from)).await?;
        for effect in left {
            if !known.iter().any(|it| it.place == effect.place) {
                known.push(effect);
            }
        }
        // An interrupt forks at most one run, so the run reuses its UUID.
        let branch = RunId::from_uuid(stop.id.uuid());
        let new = NewRun {
            root: None,
            id: branch,
            alias: None,
            content: run.content,
        };
        let fork = || store.fork_run_with(from, new.clone(), known.clone());
        let forked = self.write(fork).await;
        match forked {
            // `Taken`: the process that forked it died before the branch was resolved.
            Ok(_) | Err(RunError::Taken { .. }) => Ok(LeftBehind {
                checkpoint: Some(from.to_string()),
                branch: Some(branch),
            }),
            // Sent after the branch was asked for: the run stops as it was told to, and is not forked.
            Err(RunError::MessagesWait(_)) => Ok(LeftBehind {
                checkpoint: Some(from.to_string()),
                branch: None,
            }),
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

    /// The journal of a fork that has no checkpoint of its own: what it has inherited, and the messages to it. Those are
    /// not in the checkpoint that it began from, and no agent has read them.
    async fn unread_messages(&self) -> Result<Vec<KnownEffect>, KeepError> {
        let store = &self.shared.settings.store;
        let (mut pages, mut known) = (Pages::of(ENTRIES), Vec::new());
        while let Some(entries) = pages
            .next(|page| async move { self.read(|| store.journal(self.run, page)).await })
            .await?
        {
            known.extend(entries.into_iter().filter_map(|entry| {
                let (place, result) = (entry.intent.place?, entry.result?);
                Some(KnownEffect {
                    node: entry.intent.node,
                    kind: entry.intent.kind,
                    place,
                    content: entry.intent.content,
                    result: result.content,
                })
            }));
        }
        Ok(known)
    }
}
