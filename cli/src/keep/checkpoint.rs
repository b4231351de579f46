//! Checkpoints that runs go on from: what this program does not read all of is refused before anything is begun.

use agents::run::{ended_by_worker, is_said};
use control::{check_checkpoint, ends_at};
use interrupts::store::{CheckpointId, KnownEffect, Store};
use journal::Workflow;

use crate::exit::{Exit, Failure, causes};

/// Refuses a checkpoint that was saved by another version of the program, or is damaged.
///
/// # Errors
///
/// [`Exit::Conflict`] with the reason; where the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn refuse_unread(
    store: &dyn Store,
    workflow: &Workflow,
    place: Option<CheckpointId>,
) -> Result<(), Failure> {
    let Some(place) = place else { return Ok(()) };
    let found = store.checkpoint(place).await;
    // Whether it is there is for whoever goes on from it to say.
    let Some(found) = found? else {
        return Ok(());
    };
    check_checkpoint(workflow, &found).map_err(|error| {
        let run = place.run;
        Failure::new(Exit::Conflict, causes(&error)).hint(format!(
            "nothing was changed; use the version of the program that saved it, \
             or go on from another one: irq checkpoints {run}, irq fork {run} --at N"
        ))
    })
}

/// Refuses a fork that would end at once: its run was ended from within at that checkpoint, and nothing goes with it
/// that somebody could read, or nobody is left who could.
///
/// # Errors
///
/// [`Exit::Conflict`] with the ways that lead on; where the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn refuse_over(
    store: &dyn Store,
    workflow: &Workflow,
    from: CheckpointId,
    known: &[KnownEffect],
) -> Result<(), Failure> {
    let says = known.iter().any(is_said);
    let Some(found) = store.checkpoint(from).await? else {
        return Ok(());
    };
    // What is not read whole was refused before.
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
