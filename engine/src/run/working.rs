//! How long a process works on a run, and what the run may use from then on: kept with the run, so that limits apply to
//! all of it and not to one process.

use std::time::Duration;

use interrupt_router::{NodeId, RunId};
use interrupts::store::{Intent, JournalError, Pages, Repeating, Store, StoreError};
use interrupts::{EffectId, KindName};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;

use super::used::work_of;
use journal::RESUMED;
use journal::allowance::{ALLOWANCE, Allowance};
use journal::error::KeepError;
use journal::input;

/// How many entries of the journal are looked at together.
const PAGE: u32 = 200;

/// The kind of the entries that say how long a process has worked on a run.
pub(super) const WORK: &str = "work";

/// How long a process has worked on a run, as its entry says.
#[derive(Serialize, Deserialize)]
pub(super) struct Worked {
    pub(super) worked_ms: u64,
}

/// The work of this process on a run that it owns, so that the next process knows how long it took.
#[derive(Debug)]
pub struct Working {
    run: RunId,
    epoch: u64,
    effect: EffectId,
    began: Instant,
}

impl Working {
    /// Records that this process begins to work on a run, in the epoch in which it owns it, and what the run may use
    /// from now on, if that changes.
    ///
    /// # Errors
    ///
    /// If it cannot be recorded.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn begin(
        store: &dyn Store,
        run: RunId,
        epoch: u64,
        node: &NodeId,
        changed: Option<&Allowance>,
    ) -> Result<Self, WorkError> {
        end_what_was_left(store, run, epoch).await?;
        if let Some(allowance) = changed {
            let content = serde_json::to_string(allowance).map_err(KeepError::from)?;
            let effect = EffectId::in_run(run, &format!("{ALLOWANCE}/{epoch}"));
            let intent = intent(run, node, ALLOWANCE, effect, content)?;
            store.begin(epoch, intent).await?;
            store.finish(epoch, effect, "{}".to_owned()).await?;
        }
        let effect = EffectId::in_run(run, &format!("{WORK}/{epoch}"));
        let intent = intent(
            run,
            node,
            WORK,
            effect,
            json!({ "epoch": epoch }).to_string(),
        )?;
        store.begin(epoch, intent).await?;
        Ok(Self {
            run,
            epoch,
            effect,
            began: Instant::now(),
        })
    }

    /// Records how long it took.
    ///
    /// # Errors
    ///
    /// If it cannot be recorded; it is then derived from what else was recorded.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it is recorded or not.
    pub async fn end(self, store: &dyn Store) -> Result<(), WorkError> {
        let worked = self.began.elapsed();
        tracing::debug!(run = %self.run, ?worked, "worked");
        Ok(finish(store, self.epoch, self.effect, worked).await?)
    }
}

/// Keeps new input for the agent that has the turn of a run that this process owns in this epoch: it is read once,
/// by the next turn of the run's own flow, whichever process takes that. Call it before the run goes on.
///
/// # Errors
///
/// If it cannot be recorded.
///
/// # Cancel safety
///
/// Safe to repeat: an epoch has one input.
pub async fn keep_input(
    store: &dyn Store,
    run: RunId,
    epoch: u64,
    node: &NodeId,
    text: &str,
) -> Result<(), WorkError> {
    Ok(input::record(store, run, epoch, node, text).await?)
}

/// Why the work on a run could not be recorded.
#[derive(Debug, thiserror::Error)]
#[error("the work on the run cannot be recorded")]
pub struct WorkError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl From<KeepError> for WorkError {
    fn from(error: KeepError) -> Self {
        Self(Box::new(error))
    }
}

impl From<JournalError> for WorkError {
    fn from(error: JournalError) -> Self {
        Self(Box::new(error))
    }
}

impl From<StoreError> for WorkError {
    fn from(error: StoreError) -> Self {
        Self(Box::new(error))
    }
}

/// A process that died did not say how long it worked: what is known of it is recorded instead, before anything else is
/// recorded in the run.
#[doc(hidden)]
pub async fn end_work_of_the_dead(
    store: &dyn Store,
    run: RunId,
    epoch: u64,
) -> Result<(), KeepError> {
    let work = work_of(store, run).await?;
    for (own, length) in work.into_iter().filter(|(own, _length)| own.said.is_none()) {
        finish(store, epoch, own.effect, length).await?;
    }
    Ok(())
}

/// Ends the work of processes that died. What they had written down and not called written is.
async fn end_what_was_left(store: &dyn Store, run: RunId, epoch: u64) -> Result<(), KeepError> {
    end_work_of_the_dead(store, run, epoch).await?;
    let mut pages = Pages::of(PAGE);
    while let Some(open) = pages.next(|page| store.unknown_effects(run, page)).await? {
        let notes = open.iter().filter(|entry| {
            [ALLOWANCE, input::INPUT, RESUMED].contains(&entry.intent.kind.as_str())
        });
        for note in notes {
            store
                .finish(epoch, note.intent.effect, "{}".to_owned())
                .await?;
        }
    }
    Ok(())
}

async fn finish(
    store: &dyn Store,
    epoch: u64,
    effect: EffectId,
    worked: Duration,
) -> Result<(), KeepError> {
    let worked_ms = u64::try_from(worked.as_millis()).unwrap_or(u64::MAX);
    let content = serde_json::to_string(&Worked { worked_ms })?;
    store.finish(epoch, effect, content).await?;
    Ok(())
}

/// For this run alone: without a place, no fork takes it over.
fn intent(
    run: RunId,
    node: &NodeId,
    kind: &str,
    effect: EffectId,
    content: String,
) -> Result<Intent, KeepError> {
    Ok(Intent {
        effect,
        run,
        node: node.clone(),
        kind: KindName::new(kind)?,
        repeating: Repeating::Idempotent,
        content,
        place: None,
    })
}
