//! Whether a run can go on from a checkpoint, and whether it had already ended there; each workflow has its own
//! checkpoint format.

use interrupts::store::Checkpoint;
use journal::{NodeSnapshot, NodeState, RunSnapshot, UnreadCheckpoint, Workflow};
use planning::{Phase, PlanEnd, PlanStanding};

/// Checks that a run can go on from a checkpoint, before anything is begun or forked there.
///
/// # Errors
///
/// [`UnreadCheckpoint`] if this program does not read all of it.
pub fn check_checkpoint(
    workflow: &Workflow,
    checkpoint: &Checkpoint,
) -> Result<(), UnreadCheckpoint> {
    match workflow {
        Workflow::Agents => {
            RunSnapshot::of(checkpoint)?;
        }
        Workflow::PlanExecute => {
            PlanStanding::read(checkpoint.id, checkpoint.form, &checkpoint.content)?;
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
/// [`UnreadCheckpoint`] if this program does not read all of it.
pub fn ends_at(workflow: &Workflow, checkpoint: &Checkpoint) -> Result<bool, UnreadCheckpoint> {
    Ok(match workflow {
        Workflow::Agents => {
            let snapshot = RunSnapshot::of(checkpoint)?;
            let given_up =
                |node: &NodeSnapshot| matches!(node.state, NodeState::Canceled | NodeState::Pruned);
            snapshot.nodes.first().is_some_and(given_up)
        }
        Workflow::PlanExecute => {
            let id = checkpoint.id;
            let standing = PlanStanding::read(id, checkpoint.form, &checkpoint.content)?;
            matches!(
                standing.state.phase(),
                Phase::Ended(PlanEnd::Cancelled { .. })
            )
        }
        Workflow::Embedded(_) => false,
    })
}
