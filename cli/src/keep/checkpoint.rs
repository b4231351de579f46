//! Checkpoints that runs go on from: what this program does not read all of is refused before anything is begun.

use agents::run::{Workflow, check_checkpoint};
use interrupts::store::{CheckpointId, Run, Store};

use crate::exit::{Exit, Failure, causes};
use crate::refused::by_store;

/// The checkpoint that a run goes on from: its last one, or the one that it was forked off at.
pub(crate) fn place_of(run: &Run) -> Option<CheckpointId> {
    match run.checkpoint {
        0 => run.forked_from,
        number => Some(CheckpointId {
            run: run.id,
            number,
        }),
    }
}

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
    workflow: Workflow,
    place: Option<CheckpointId>,
) -> Result<(), Failure> {
    let Some(place) = place else { return Ok(()) };
    let found = store.checkpoint(place).await;
    // Whether it is there is for whoever goes on from it to say.
    let Some(found) = found.map_err(|error| by_store(&error))? else {
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
