//! Changing a held plan from any process: a proposal, a suggestion of the model, undo and redo.
//!
//! The caller claims the interrupt that holds the plan, and owns the run meanwhile. So no one else decides or resumes
//! while it changes, and a decision about what was shown before is refused: the interrupt has another version then.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::RunId;
use interrupt_router::answer::ConstraintCheck;
use interrupt_router::model::LanguageModel;
use interrupts::Clock;
use interrupts::OwnerName;
use interrupts::life::{Actor, Interrupt, Refusal, ReviewChange, RunState, USUAL_CLAIM};
use interrupts::store::{ChangeError, CheckpointId, Run, RunError, Store};
use jiff::Timestamp;

use super::active_plan::ActivePlan;
use engine::durable::journal::RunJournal;
use engine::durable::kinds::Kinds;
use engine::durable::record::{RunRecord, RunStore};
use journal::error::KeepError;
use planning::{PlanEditError, StoredPlan, escape_taking_hold};

/// How long a process may take to release a run that it has paused, and how often that is checked.
const GIVING_UP: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(50);

/// Where a plan is changed, and by whom.
pub struct PlanEditing {
    /// Keeps the run.
    pub store: Arc<dyn Store>,
    /// The run.
    pub run: RunId,
    /// Who changes the plan.
    pub by: Actor,
    /// This process, by a unique name.
    pub owner: OwnerName,
    /// An owner of the run that is known to be gone.
    pub lost: Option<OwnerName>,
    /// The version of the plan that the caller saw; any if it is absent.
    pub if_version: Option<usize>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// A change to a held plan.
pub enum PlanChange {
    /// Saves a change to these steps for review; nothing is applied.
    Propose {
        /// The remaining tasks.
        tasks: Vec<String>,
    },
    /// Has a model suggest a change, which is saved for review; nothing is applied.
    Suggest {
        /// What is wanted, in words.
        request: String,
        /// Suggests the change.
        model: Arc<dyn LanguageModel>,
        /// Checks what types alone do not.
        constraints: Arc<dyn ConstraintCheck>,
    },
    /// Undoes the last change of the plan.
    Undo,
    /// Redoes the change that was undone last.
    Redo,
}

impl PlanChange {
    /// Whether it undoes or redoes a change.
    const fn turns_back(&self) -> bool {
        match self {
            Self::Undo | Self::Redo => true,
            Self::Propose { .. } | Self::Suggest { .. } => false,
        }
    }
}

/// Changes a held plan, and saves it. The run stays as it is: paused, or waiting.
///
/// # Errors
///
/// [`PlanEditError`]. The plan is unchanged then.
///
/// # Cancel safety
///
/// Dropped, it was changed or not; the interrupt may be claimed for some minutes, and the run owned for some seconds.
pub async fn change_plan(
    bench: PlanEditing,
    change: PlanChange,
) -> Result<StoredPlan, PlanEditError> {
    let (store, run) = (Arc::clone(&bench.store), bench.run);
    let row = store.run(run).await?.ok_or(PlanEditError::NoRun { run })?;
    let Some(escape) = escape_taking_hold(&*store, &row).await? else {
        // A change that was just applied waits for the run to continue: until then it can be undone without another
        // interrupt. No decision can come meanwhile, and a process that resumes the run finds it owned.
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
    // A claim that the caller had before is kept.
    let given_back = match before {
        Some(before) => ReviewChange::Claim {
            until: before.until,
        },
        None => ReviewChange::Release,
    };
    give_back(&*store, claimed, by, given_back).await;
    changed
}

/// Gives the claim back. If that fails, it expires by itself.
async fn give_back(store: &dyn Store, mut claimed: Interrupt, by: Actor, change: ReviewChange) {
    loop {
        let given = store.review(claimed.id, by.clone(), claimed.version, change.clone());
        match given.await {
            Ok(_) => return,
            // A reviewer was assigned or has voted meanwhile.
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

/// What holds a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// An interrupt that waits for a person.
    Escape,
    /// A decided change that the run has not carried out.
    Change,
}

async fn as_owner(
    bench: PlanEditing,
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

/// Takes the run. A process that has just paused it says so before it releases it.
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
