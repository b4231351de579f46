//! Whether a run can continue from a checkpoint: checked before anything is lifted, kept or forked.

use control::{StartError, check_start, other_checkpoint};
use interrupts::store::{CheckpointId, Run};
use journal::RunHeader;

use crate::app::App;
use crate::problem::{Code, Problem, of_store};

/// Refuses a checkpoint that was saved by another version of the program, or is damaged: the one with this number, or
/// the one from which the run continues.
///
/// # Errors
///
/// [`Code::NotInState`] with the reason; or the store cannot be read.
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
    let checked = check_start(app.store(), &header.workflow, place).await;
    checked.map_err(|error| match error {
        StartError::Unreadable { checkpoint, reason } => {
            tracing::warn!(%checkpoint, %reason, "a run cannot go on");
            Problem::new(Code::NotInState, reason, other_checkpoint(checkpoint))
        }
        StartError::Store(error) => of_store(&error),
    })
}
