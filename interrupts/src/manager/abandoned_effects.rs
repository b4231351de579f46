//! Effects that a run had begun, if it ends while no process works on it.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::RunId;

use super::owned_run_state::{KeepError, OwnedRunState};
use crate::EffectId;
use crate::names::OwnerName;
use crate::store::{JournalError, Store};

/// Knows what to write into the journal about effects that a run had begun and that no process continues.
#[async_trait]
pub trait AbandonedEffects: Send + Sync {
    /// Records that all effects without a result in a run's journal are abandoned. The run is about to end, no process
    /// works on it, and this one owns it, in this epoch. One effect may be left out (`but`): the dispatch of the decision
    /// that ends the run, which is carried out once the run has ended.
    ///
    /// # Errors
    ///
    /// If that cannot be recorded: the run does not end before it is.
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

/// Leaves begun effects as they are.
#[derive(Debug, Clone, Copy)]
pub struct NoAbandonedEffects;

#[async_trait]
impl AbandonedEffects for NoAbandonedEffects {
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

impl OwnedRunState {
    /// Abandons begun effects of a run that is about to end. Only if this process has not worked on it: those that did are
    /// gone, and no other process records what becomes of the effects that they had begun.
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
            // It has a result by now, or this program does not know it: no reason not to end the run.
            Err(error) => {
                tracing::warn!(run = %self.run, %error, "what the run had begun is not said to be left out");
                Ok(())
            }
        }
    }
}
