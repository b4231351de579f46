//! A stop of a run that no process runs: this process owns the run for a moment, and nothing of it works.

use interrupts::life::Interrupt;
use interrupts::policy::Policy;
use interrupts::store::Run;

use crate::exit::{Exit, Failure};
use crate::keep::{Keeping, is_for_whoever_holds};
use crate::refused::no_interrupt;
use crate::storage::Storage;

/// Lets a stop take hold. `None` where its workflow has to run for that, or a process has come to own the run
/// meanwhile, which then does it.
///
/// # Errors
///
/// Where the store cannot be written; the request stands.
///
/// # Cancel safety
///
/// Dropped, the stop may not have taken hold; the next owner of the run goes on with it.
pub(super) async fn take_hold(
    storage: &Storage,
    interrupt: &Interrupt,
    run: &Run,
) -> Result<Option<Interrupt>, Failure> {
    if interrupt.review.is_some() || !is_for_whoever_holds(interrupt, run) {
        return Ok(None);
    }
    let keeping = Keeping::over(storage.clone(), &Policy::default())
        .map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    if !keeping.carry_out(run).await? {
        return Ok(None);
    }
    let now = storage.store.interrupt(interrupt.id).await?;
    now.map(Some).ok_or_else(|| no_interrupt(interrupt.id))
}
