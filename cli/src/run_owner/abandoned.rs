//! The unfinished work of runs that end while no process executes them.

use std::sync::Arc;

use async_trait::async_trait;
use engine::run::leave_out_of_ended;
use interrupt_router::RunId;
use interrupts::manager::AbandonedEffects;
use interrupts::store::{JournalError, Store};
use interrupts::{EffectId, OwnerName};

/// Abandons what the agents of a run had begun.
pub(super) struct AbandonedWork;

#[async_trait]
impl AbandonedEffects for AbandonedWork {
    async fn leave_out(
        &self,
        store: &Arc<dyn Store>,
        run: RunId,
        owner: (&OwnerName, u64),
        but: Option<EffectId>,
    ) -> Result<(), JournalError> {
        leave_out_of_ended(store, run, owner, but).await
    }
}
