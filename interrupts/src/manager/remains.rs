//! What a run had begun that comes to its end while no process works on it.

use std::sync::Arc;

use async_trait::async_trait;
use routing_core::RunId;

use super::keeper::{KeepError, Keeper};
use crate::EffectId;
use crate::names::OwnerName;
use crate::store::{JournalError, Store};

/// Knows what stands in the journal of what a run had begun, and nobody goes on with.
#[async_trait]
pub trait Remains: Send + Sync {
    /// Says of all that has no result in the journal of a run that nobody goes on with it. The run is about to be over,
    /// no process works on it, and this one owns it, in this epoch. One effect may be left: the dispatch of the decision
    /// that ends the run, which is carried out once it has ended.
    ///
    /// # Errors
    ///
    /// Where that cannot be recorded: the run does not end before it is.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn leave_out(
        &self,
        store: &Arc<dyn Store>,
        run: RunId,
        owner: (&OwnerName, u64),
        but: Option<EffectId>,
    ) -> Result<(), JournalError>;
}

/// What was begun stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct NoRemains;

#[async_trait]
impl Remains for NoRemains {
    async fn leave_out(
        &self,
        _store: &Arc<dyn Store>,
        _run: RunId,
        _owner: (&OwnerName, u64),
        _but: Option<EffectId>,
    ) -> Result<(), JournalError> {
        Ok(())
    }
}

impl Keeper {
    /// The run is about to be over. Where this process has not worked on it, those that did are gone, and nobody else
    /// says what becomes of what they had begun.
    pub(super) async fn leave_out(&self, but: Option<EffectId>) -> Result<(), KeepError> {
        if self.has_begun() {
            return Ok(());
        }
        self.check_owned()?;
        let settings = &self.shared.settings;
        let (store, owner) = (&settings.store, (&settings.owner, self.epoch));
        let left_out = settings
            .backoff
            .recover(|| settings.remains.leave_out(store, self.run, owner, but))
            .await;
        match left_out {
            Ok(()) => Ok(()),
            Err(JournalError::Store(error)) => Err(error.into()),
            Err(JournalError::Fenced { .. }) => Err(KeepError::Lost { run: self.run }),
            // It has a result by now, or this program does not know it: no reason to let the run go on.
            Err(error) => {
                tracing::warn!(run = %self.run, %error, "what the run had begun is not said to be left out");
                Ok(())
            }
        }
    }
}
