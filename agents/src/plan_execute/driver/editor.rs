//! Changing a plan that stands still, from any process: a proposal, a suggestion of the model, undo and redo.
//!
//! Whoever changes it claims the interrupt that it stands still on, and owns the run meanwhile. So nobody decides
//! or resumes while it changes, and a decision about what was shown before is refused: the interrupt has another
//! version then.

use std::sync::Arc;
use std::time::Duration;

use interrupts::OwnerName;
use interrupts::life::{Actor, Interrupt, Refusal, ReviewChange, RunState, USUAL_CLAIM};
use interrupts::store::{ChangeError, CheckpointId, Run, RunError, Store};
use jiff::Timestamp;
use routing_core::answer::ConstraintCheck;
use routing_core::model::LanguageModel;
use routing_core::{Clock, RunId};

use super::active_plan::ActivePlan;
use engine::durable::journal::RunJournal;
use engine::durable::kinds::Kinds;
use engine::durable::record::{RunRecord, RunStore};
use journal::error::KeepError;
use planning::{PlanEditError, StoredPlan, escape_taking_hold};

/// How long a process may take to give up a run that it has paused, and how often that is looked at.
const GIVING_UP: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(50);

/// Where a plan is changed, and by whom.
pub struct PlanBench {
    /// Keeps it.
    pub store: Arc<dyn Store>,
    /// The run.
    pub run: RunId,
    /// Who changes it.
    pub by: Actor,
    /// This process, by a name that no other one has.
    pub owner: OwnerName,
    /// An owner of the run that is known to be gone.
    pub lost: Option<OwnerName>,
    /// The version of the plan that was looked at; any where it is absent.
    pub if_version: Option<usize>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// What is done to a plan that stands still.
pub enum PlanChange {
    /// The change to these steps is kept to be looked at; nothing is applied.
    Propose {
        /// The tasks that would be left.
        tasks: Vec<String>,
    },
    /// A model thinks of a change, which is kept to be looked at; nothing is applied.
    Suggest {
        /// What is wanted, in words.
        request: String,
        /// Thinks of it.
        model: Arc<dyn LanguageModel>,
        /// Checks what types alone do not.
        constraints: Arc<dyn ConstraintCheck>,
    },
    /// The last change of the plan is taken back.
    Undo,
    /// The change that was taken back last is made again.
    Redo,
}

impl PlanChange {
    /// Whether it takes a change back, or makes it again.
    const fn turns_back(&self) -> bool {
        match self {
            Self::Undo | Self::Redo => true,
            Self::Propose { .. } | Self::Suggest { .. } => false,
        }
    }
}

/// Changes a plan that stands still, and saves it. The run stays as it is: paused, or waiting.
///
/// # Errors
///
/// [`PlanEditError`]. The plan stands as it stood then.
///
/// # Cancel safety
///
/// Dropped, it was changed or not; the interrupt may be claimed for some minutes, and the run owned for some seconds.
pub async fn change_plan(
    bench: PlanBench,
    change: PlanChange,
) -> Result<StoredPlan, PlanEditError> {
    let (store, run) = (Arc::clone(&bench.store), bench.run);
    let row = store.run(run).await?.ok_or(PlanEditError::NoRun { run })?;
    let Some(escape) = escape_taking_hold(&*store, &row).await? else {
        // What was just applied waits for the run to go on: until then it is taken back without another interrupt. No
        // decision can come meanwhile, and whoever resumes the run finds it owned.
        if row.state == RunState::Paused && change.turns_back() {
            return as_owner(bench, &row, change, Hold::Change).await;
        }
        let state = row.state;
        return Err(PlanEditError::NotHeld { run, state });
    };
    let now = bench.clock.now();
    let before = escape
        .review
        .as_ref()
        .and_then(|it| it.claim_at(now))
        .cloned();
    // The claim keeps others from deciding; it is released when the change is made.
    let until = now.checked_add(USUAL_CLAIM).unwrap_or(Timestamp::MAX);
    let claim = ReviewChange::Claim { until };
    let claimed = store.review(escape.id, bench.by.clone(), escape.version, claim);
    let claimed = claimed.await.map_err(|source| PlanEditError::Unclaimed {
        interrupt: escape.id,
        source,
    })?;
    let by = bench.by.clone();
    let changed = as_owner(bench, &row, change, Hold::Escape).await;
    // A claim that he had before stays.
    let given_back = match before {
        Some(before) => ReviewChange::Claim {
            until: before.until,
        },
        None => ReviewChange::Release,
    };
    give_back(&*store, claimed, by, given_back).await;
    changed
}

/// Gives the claim back. Where that fails, it runs out by itself.
async fn give_back(store: &dyn Store, mut claimed: Interrupt, by: Actor, change: ReviewChange) {
    loop {
        let given = store.review(claimed.id, by.clone(), claimed.version, change.clone());
        match given.await {
            Ok(_) => return,
            // Somebody was assigned, or has voted meanwhile.
            Err(ChangeError::Refused(Refusal::StaleVersion { .. })) => {
                match store.interrupt(claimed.id).await {
                    Ok(Some(now)) if now.version != claimed.version => claimed = now,
                    Ok(_) | Err(_) => return,
                }
            }
            Err(error) => {
                tracing::warn!(interrupt = %claimed.id, %error, "the claim runs out by itself");
                return;
            }
        }
    }
}

/// What a plan stands still on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// An interrupt that waits for a person.
    Escape,
    /// A change that was decided, and with which the run has not gone on.
    Change,
}

async fn as_owner(
    bench: PlanBench,
    row: &Run,
    change: PlanChange,
    hold: Hold,
) -> Result<StoredPlan, PlanEditError> {
    let (run, state) = (row.id, row.state);
    let kept = RunStore::new(Arc::clone(&bench.store), bench.owner.clone(), "");
    let record = Arc::new(RunRecord::new(bench.run, Kinds::default(), kept));
    let checkpoint = take(&record, bench.lost.as_ref()).await?;
    let journal = Arc::new(RunJournal::new(Arc::clone(&record)));
    let table = ActivePlan::lay(bench, row, journal, checkpoint);
    let changed = match table.await {
        Ok(table) if hold == Hold::Change && table.goes_on_unchanged() => {
            Err(PlanEditError::NotHeld { run, state })
        }
        Ok(table) => table.change(change).await,
        Err(error) => Err(error),
    };
    if let Err(error) = record.release().await {
        tracing::warn!(run = %record.run, %error, "the run is given up when its lease runs out");
    }
    changed
}

/// Takes the run. Whoever has just paused it says so before it gives it up.
async fn take(
    record: &RunRecord,
    lost: Option<&OwnerName>,
) -> Result<Option<CheckpointId>, KeepError> {
    let begun = tokio::time::Instant::now();
    loop {
        match record.take(lost.cloned()).await {
            Err(KeepError::Run(RunError::Owned { .. })) if begun.elapsed() < GIVING_UP => {
                tokio::time::sleep(LOOK).await;
            }
            taken => return taken,
        }
    }
}
