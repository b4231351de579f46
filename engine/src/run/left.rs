//! Effects that a run had begun, if it ended while no process worked on it.

use std::sync::Arc;

use interrupt_router::RunId;
use interrupts::store::{JournalError, Store};
use interrupts::{EffectId, OwnerName};

use super::RunStore;
use super::settling::{OpenEffects, RUN_HAS_ENDED, leave_out};
use super::working::end_work_of_the_dead;
use crate::durable::journal::RunJournal;
use crate::durable::record::RunRecord;
use journal::error::KeepError;

/// Marks in the journal of a run that is about to end all effects that its dead processes had begun as not continued:
/// their outcomes stay unknown. This process owns the run in an epoch, and no process works on it. One effect may be
/// exempt: the dispatch of the decision that ends the run. Entries that cannot be read, such as those of another
/// version of the program, stay as they are.
///
/// # Errors
///
/// If it cannot be recorded.
///
/// # Cancel safety
///
/// Safe to repeat.
pub async fn leave_out_of_ended(
    store: &Arc<dyn Store>,
    run: RunId,
    (owner, epoch): (&OwnerName, u64),
    but: Option<EffectId>,
) -> Result<(), JournalError> {
    let kept = RunStore::new(Arc::clone(store), owner.clone(), "{}");
    let record = RunRecord::owned(run, kept, epoch);
    match abandon(record, but).await {
        Ok(()) => Ok(()),
        Err(KeepError::Journal(error)) => Err(error),
        Err(KeepError::Store(error)) => Err(error.into()),
        Err(error) => {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(%run, error, "not all that the run had begun is said to be left out");
            Ok(())
        }
    }
}

async fn abandon(record: RunRecord, but: Option<EffectId>) -> Result<(), KeepError> {
    end_work_of_the_dead(record.store(), record.run, record.epoch()?).await?;
    let journal = RunJournal::new(Arc::new(record));
    // Loading the journal ends the tries of its models that were under way.
    journal.load().await?;
    // Who asked for an interrupt matters only to its agent, and that has ended.
    let nobody_asked = |_interrupt| false;
    let begun = OpenEffects {
        but,
        ..OpenEffects::ALL
    };
    leave_out(&journal, begun, RUN_HAS_ENDED, nobody_asked).await
}
