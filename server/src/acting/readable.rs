//! Whether a run can continue from a checkpoint: checked before anything is lifted, kept or forked.

use control::check_checkpoint;
use interrupts::store::{CheckpointId, Run};
use journal::RunHeader;

use crate::app::App;
use crate::problem::{Kind, Problem};

/// Refuses a checkpoint that was saved by another version of the program, or is damaged: the one with this number, or
/// the one from which the run continues.
///
/// # Errors
///
/// [`Kind::NotInState`] with the reason; or the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn refuse_unread(
    app: &App,
    run: &Run,
    number: Option<u64>,
) -> Result<(), Problem> {
    let Ok(header) = RunHeader::from_content(&run.content) else {
        // Agents do not carry it out: the process that executes it reports such errors.
        return Ok(());
    };
    let place = match number {
        None => run.goes_on_from(),
        Some(0) => run.forked_from,
        Some(number) => Some(CheckpointId {
            run: run.id,
            number,
        }),
    };
    let Some(place) = place else { return Ok(()) };
    let Some(found) = app.store().checkpoint(place).await? else {
        return Ok(());
    };
    check_checkpoint(&header.workflow, &found).map_err(|error| {
        tracing::warn!(%error, "a run cannot go on");
        Problem::new(
            Kind::NotInState,
            error.to_string(),
            "nothing was changed; use the version of the program that saved it, or go on from another checkpoint",
        )
    })
}
