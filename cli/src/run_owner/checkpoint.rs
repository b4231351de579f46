//! Checkpoints that runs continue from: one that this program cannot read completely is refused before anything starts.

use agents::run::ended_by_worker;
use control::{StartError, check_start, ends_at, other_checkpoint};
use interrupts::store::{CheckpointId, ForkStart, Store};
use journal::Workflow;

use crate::exit::{Exit, Failure};

/// Refuses a checkpoint that was saved by another version of the program, or is damaged.
///
/// # Errors
///
/// [`Exit::Conflict`] with the reason; if the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn refuse_unread(
    store: &dyn Store,
    workflow: &Workflow,
    place: Option<CheckpointId>,
) -> Result<(), Failure> {
    let checked = check_start(store, workflow, place).await;
    checked.map_err(|error| match error {
        StartError::Unreadable { checkpoint, reason } => {
            Failure::new(Exit::Conflict, reason).hint(other_checkpoint(checkpoint))
        }
        StartError::Store(error) => error.into(),
    })
}

/// Refuses a fork that would end at once: its run was ended from within at that checkpoint, and the fork has no message
/// to read, or no agent left to read one.
///
/// # Errors
///
/// [`Exit::Conflict`] with the alternatives; if the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn refuse_over(
    store: &dyn Store,
    workflow: &Workflow,
    from: CheckpointId,
    start: &ForkStart,
) -> Result<(), Failure> {
    let says = start.said.is_some();
    let Some(found) = store.checkpoint(from).await? else {
        return Ok(());
    };
    // A checkpoint that cannot be read completely was refused before.
    let is_over = ends_at(workflow, &found).unwrap_or(false);
    if !says && !is_over {
        return Ok(());
    }
    let run = from.run;
    if *workflow == Workflow::Agents {
        let worker = ended_by_worker(store, &found).await;
        if let Some(worker) = worker? {
            let text = format!(
                "{worker}, which worked beside others, has ended {run} with what it had answered by this checkpoint; a fork would end there, too, and no agent in it would read a message"
            );
            let hint = format!(
                "begin before that, where there is such a checkpoint: irq checkpoints {run}, irq fork {run} --at N; or begin another run"
            );
            return Err(Failure::new(Exit::Conflict, text).hint(hint));
        }
    }
    if says {
        return Ok(());
    }
    let text =
        format!("{run} was ended from within at this checkpoint; a fork would end there, too");
    let hint = format!(
        "say how it goes on: irq fork {run} --message TEXT; or begin before that: irq checkpoints {run}, irq fork {run} --at N"
    );
    Err(Failure::new(Exit::Conflict, text).hint(hint))
}
