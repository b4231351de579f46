//! A run that a worker executes: its pauses are lifted here, and its worker continues it.

use interrupts::life::RunState;
use interrupts::policy::Policy;
use interrupts::store::Run;

use crate::actor::actor;
use crate::exit::{Exit, Failure, tell};
use crate::run_owner::{RunOwner, refuse_said, workflow_of};
use crate::storage::Storage;

/// Lets a worker go on with a run that is paused.
///
/// # Errors
///
/// If a message is given, which code does not read, or the store cannot be written.
///
/// # Cancel safety
///
/// Safe to repeat.
pub(super) async fn let_go_on(
    run: &Run,
    storage: Storage,
    message: Option<&str>,
) -> Result<Exit, Failure> {
    let workflow = workflow_of(run);
    refuse_said(&workflow, message)?;
    if run.state != RunState::Paused {
        tell(format_args!(
            "{} is {}: its worker goes on with it by itself.",
            run.id, run.state
        ));
        return Ok(Exit::Success);
    }
    let failed = |error: interrupts::NameError| Failure::new(Exit::Failure, error.to_string());
    let run_owner = RunOwner::over(storage, &Policy::default()).map_err(failed)?;
    let by = actor().map_err(failed)?;
    run_owner.let_worker_go_on(run, Some(&by), None).await?;
    tell(format_args!(
        "{} goes on as soon as a worker takes it.",
        run.id
    ));
    Ok(Exit::Success)
}

/// Refuses to execute a run here that a worker executes.
///
/// # Errors
///
/// [`Exit::Conflict`].
pub(crate) fn refuse_work(run: &Run) -> Result<(), Failure> {
    if !journal::executed_by_worker(&run.content) {
        return Ok(());
    }
    let text = format!(
        "{} is executed by a worker of `{}`, and by nothing else",
        run.id,
        workflow_of(run)
    );
    Err(Failure::new(Exit::Conflict, text).hint("begin another run with the same input"))
}
