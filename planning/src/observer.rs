//! The facts that the observer got about a plan, read again from its checkpoints: in any process, also after restarts.

use interrupt_router::RunId;
use interrupts::store::{Checkpoint, Checkpoints, Pages, StoreError};

use crate::effect::Fact;
use crate::snapshot::PlanSnapshot;
use crate::state::PlanExecute;

/// How many checkpoints are read together.
const PAGE: u32 = 500;

/// Why a checkpoint could not be read as a plan's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanReadError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is of another form.
    #[error(
        "checkpoint {number} has form {found}, and this program reads form {}",
        PlanExecute::FORM
    )]
    OtherForm {
        /// Its number.
        number: u64,
        /// Its form.
        found: u32,
    },
    /// It contains no plan.
    #[error("checkpoint {number} holds no plan")]
    Unreadable {
        /// Its number.
        number: u64,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
}

impl PlanSnapshot {
    /// Reads the content of a plan's checkpoint.
    ///
    /// # Errors
    ///
    /// [`PlanReadError`] if it is of another form, or of another workflow.
    pub fn of(checkpoint: &Checkpoint) -> Result<Self, PlanReadError> {
        let number = checkpoint.id.number;
        if checkpoint.form != PlanExecute::FORM {
            let found = checkpoint.form;
            return Err(PlanReadError::OtherForm { number, found });
        }
        if !checkpoint.is_whole() {
            let checkpoint = checkpoint.id;
            return Err(StoreError::DamagedCheckpoint { checkpoint }.into());
        }
        serde_json::from_str(&checkpoint.content)
            .map_err(|source| PlanReadError::Unreadable { number, source })
    }
}

/// The facts that the observer of a run got, in order: kind, reason, time, the plan, and how much of it was done.
///
/// # Errors
///
/// [`PlanReadError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn told_facts(store: &dyn Checkpoints, run: RunId) -> Result<Vec<Fact>, PlanReadError> {
    let (mut facts, mut pages) = (Vec::new(), Pages::of(PAGE));
    while let Some(found) = pages.next(|page| store.checkpoints(run, page)).await? {
        facts.extend(facts_in(&found)?);
    }
    Ok(facts)
}

/// The facts that the observer of a plan got in these checkpoints.
///
/// # Errors
///
/// [`PlanReadError`] if one of them is of another form, or of another workflow.
pub fn facts_in(checkpoints: &[Checkpoint]) -> Result<Vec<Fact>, PlanReadError> {
    let mut facts = Vec::new();
    for checkpoint in checkpoints {
        facts.extend(PlanSnapshot::of(checkpoint)?.facts);
    }
    Ok(facts)
}
