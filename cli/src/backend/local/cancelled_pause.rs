//! A run that was cancelled while no process executes it: this process owns it for a moment, and ends it.

use engine::run::given_up_because;
use interrupts::life::Interrupt;
use interrupts::manager::PausedCancellation;
use interrupts::policy::Policy;
use journal::{Workflow, executed_by_worker};

use crate::exit::{Exit, Failure};
use crate::run_owner::{RunOwner, has_process, workflow_of};
use crate::storage::Storage;

/// Ends the run of a pause whose decision cancels it. If a process owns the run, that process ends it; a run that
/// carries out a plan is ended by the process that resumes it, which records what becomes of the plan.
///
/// # Errors
///
/// If the store cannot be written; the decision stays, and the process that resumes the run ends it.
///
/// # Cancel safety
///
/// Dropped, the run may not have ended; the process that resumes it ends it.
pub(super) async fn end(storage: &Storage, pause: &Interrupt) -> Result<(), Failure> {
    let (Some(reason), Some(decision)) = (given_up_because(pause), &pause.decision) else {
        return Ok(());
    };
    let Some(run) = storage.store.run(pause.run).await? else {
        return Ok(());
    };
    let is_left = !has_process(&run);
    // A worker has released its run once that is paused.
    let ends_here = workflow_of(&run) == Workflow::Agents || executed_by_worker(&run.content);
    if !is_left || run.state.is_final() || !ends_here {
        return Ok(());
    }
    let run_owner = RunOwner::over(storage.clone(), &Policy::default())
        .map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    let dispatch = decision.effect;
    // If another process owns it by now, that process ends it.
    let _ended_here = run_owner
        .give_up(&run, PausedCancellation { reason, dispatch })
        .await?;
    Ok(())
}
