//! What a withdrawn interrupt leaves behind. A process that received a stop stops, and then continues: only a stop that
//! had not reached it is as if it had never been requested.

use interrupts::life::{Family, Interrupt, State};

use crate::backend::Backend;
use crate::exit::Failure;
use crate::run_owner::has_process;

/// What a stop does though it was withdrawn; `None` if it does nothing.
///
/// # Errors
///
/// If the backend cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(crate) async fn after(
    at: &dyn Backend,
    withdrawn: &Interrupt,
) -> Result<Option<String>, Failure> {
    let takes_hold = withdrawn.state == State::Delivered && !withdrawn.is_asked_for();
    if withdrawn.family() != Family::Stop || !takes_hold {
        return Ok(None);
    }
    let works = at
        .run(withdrawn.run)
        .await?
        .is_some_and(|run| !run.state.is_final() && has_process(&run));
    Ok(works.then(|| {
        "its process was told to stop before: it stops first, and goes on then".to_owned()
    }))
}
