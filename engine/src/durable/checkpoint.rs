//! The checkpoints of a run: small, because the journal records what happened. Each says where the run was, and pins
//! what a fork of it takes over.

use std::sync::{Mutex, PoisonError};

use interrupts::store::{CheckpointDraft, CheckpointId};

use super::journal::RunJournal;
use journal::error::KeepError;

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

    /// Saves a checkpoint of any form.
    pub async fn save(
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
