//! A stop of a run that no process executes: this process owns the run for a moment, and none of its agents works.

use interrupts::life::Interrupt;
use interrupts::policy::Policy;
use interrupts::store::Run;

use crate::exit::{Exit, Failure};
use crate::refused::no_interrupt;
use crate::run_owner::{RunOwner, is_for_whoever_holds};
use crate::storage::Storage;

/// Carries out a stop. `None` if its workflow has to run for that, or if another process has taken the run meanwhile,
/// which then does it.
///
/// # Errors
///
/// If the store cannot be written; the request stays.
///
/// # Cancel safety
///
/// Dropped, the stop may not have taken effect; the next owner of the run completes it.
pub(super) async fn take_hold(
    storage: &Storage,
    interrupt: &Interrupt,
    run: &Run,
) -> Result<Option<Interrupt>, Failure> {
    if interrupt.review.is_some() || !is_for_whoever_holds(interrupt, run) {
        return Ok(None);
    }
    let run_owner = RunOwner::over(storage.clone(), &Policy::default())
        .map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    if !run_owner.carry_out(run).await? {
        return Ok(None);
    }
    let now = storage.store.interrupt(interrupt.id).await?;
    now.map(Some).ok_or_else(|| no_interrupt(interrupt.id))
}
