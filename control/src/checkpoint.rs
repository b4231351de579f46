//! Whether a run can go on from a checkpoint, and whether it had already ended there; each workflow has its own
//! checkpoint format.

use interrupts::store::Checkpoint;
use journal::{InvalidCheckpoint, NodeSnapshot, NodeState, RunSnapshot, Workflow};
use planning::{Phase, PlanEnd, PlanSnapshot};

/// Checks that a run can go on from a checkpoint, before anything is begun or forked there.
///
/// # Errors
///
/// [`InvalidCheckpoint`] if this program does not read all of it.
pub fn check_checkpoint(
    workflow: &Workflow,
    checkpoint: &Checkpoint,
) -> Result<(), InvalidCheckpoint> {
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
            let given_up =
                |node: &NodeSnapshot| matches!(node.state, NodeState::Canceled | NodeState::Pruned);
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
