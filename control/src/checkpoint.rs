//! Whether a run can go on from a checkpoint, and whether it had already ended there; each workflow has its own
//! checkpoint format.

use std::error::Error;

use interrupts::store::{Checkpoint, CheckpointId, Checkpoints, NodeActivity, StoreError};
use journal::{InvalidCheckpoint, NodeSnapshot, RunSnapshot, Workflow};
use planning::{Phase, PlanEnd, PlanSnapshot};

/// Why nothing can begin at a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It was saved by another version of the program, or is damaged.
    #[error("{reason}")]
    Unreadable {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// What of it is not read.
        reason: String,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What to do about a checkpoint that this program does not read.
pub fn other_checkpoint(of: CheckpointId) -> String {
    let run = of.run;
    format!(
        "nothing was changed; use the version of the program that saved it, or go on from another one: \
         irq checkpoints {run}, irq fork {run} --at N"
    )
}

/// Checks that a run can go on from this checkpoint, before anything is begun or forked there. Whether it exists is for
/// the caller that goes on from it to report.
///
/// # Errors
///
/// [`StartError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn check_start<S: Checkpoints + ?Sized>(
    store: &S,
    workflow: &Workflow,
    from: Option<CheckpointId>,
) -> Result<(), StartError> {
    let Some(checkpoint) = from else {
        return Ok(());
    };
    let Some(found) = store.checkpoint(checkpoint).await? else {
        return Ok(());
    };
    check_checkpoint(workflow, &found).map_err(|error| {
        let mut reason = error.to_string();
        let mut next = error.source();
        while let Some(cause) = next {
            let words = cause.to_string();
            if !reason.contains(&words) {
                reason = format!("{reason}: {words}");
            }
            next = cause.source();
        }
        StartError::Unreadable { checkpoint, reason }
    })
}

fn check_checkpoint(workflow: &Workflow, checkpoint: &Checkpoint) -> Result<(), InvalidCheckpoint> {
    match workflow {
        Workflow::Agents => {
            RunSnapshot::of(checkpoint)?;
        }
        Workflow::PlanExecute => {
            PlanSnapshot::read(checkpoint.id, checkpoint.form, &checkpoint.content)?;
        }
        // Its code is executed from the start, beside the journal.
        Workflow::Embedded(_) => {}
    }
    Ok(())
}

/// Whether a run had been ended from within when this was saved: by its agent, or as a plan that was given up. A
/// process that goes on from there ends it again, unless there is something new to read.
///
/// # Errors
///
/// [`InvalidCheckpoint`] if this program does not read all of it.
pub fn ends_at(workflow: &Workflow, checkpoint: &Checkpoint) -> Result<bool, InvalidCheckpoint> {
    Ok(match workflow {
        Workflow::Agents => {
            let snapshot = RunSnapshot::of(checkpoint)?;
            let given_up = |node: &NodeSnapshot| {
                matches!(node.state, NodeActivity::Cancelled | NodeActivity::Pruned)
            };
            snapshot.nodes.first().is_some_and(given_up)
        }
        Workflow::PlanExecute => {
            let id = checkpoint.id;
            let snapshot = PlanSnapshot::read(id, checkpoint.form, &checkpoint.content)?;
            matches!(
                snapshot.state.phase(),
                Phase::Ended(PlanEnd::Cancelled { .. })
            )
        }
        Workflow::Embedded(_) => false,
    })
}
