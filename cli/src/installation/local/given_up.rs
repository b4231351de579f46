//! A run that was given up while no process runs it: this process owns it for a moment, and ends it.

use engine::run::given_up_because;
use interrupts::life::Interrupt;
use interrupts::manager::GivenUp;
use interrupts::policy::Policy;
use journal::{Workflow, executed_by_worker};

use crate::exit::{Exit, Failure};
use crate::keep::{Keeping, has_process, workflow_of};
use crate::storage::Storage;

/// Ends the run of a pause whose decision is that it shall not go on. Where a process has the run, that one ends it;
/// of a run that carries out a plan, whoever resumes it does, who writes down what becomes of the plan.
///
/// # Errors
///
/// Where the store cannot be written; the decision stands, and whoever resumes the run ends it.
///
/// # Cancel safety
///
/// Dropped, the run may not have ended; whoever resumes it ends it.
pub(super) async fn end(storage: &Storage, pause: &Interrupt) -> Result<(), Failure> {
    let (Some(reason), Some(decision)) = (given_up_because(pause), &pause.decision) else {
        return Ok(());
    };
    let Some(run) = storage.store.run(pause.run).await? else {
        return Ok(());
    };
    let is_left = !has_process(&run);
    // A worker has let go of its run once that is paused.
    let ends_here = workflow_of(&run) == Workflow::Agents || executed_by_worker(&run.content);
    if !is_left || run.state.is_final() || !ends_here {
        return Ok(());
    }
    let keeping = Keeping::over(storage.clone(), &Policy::default())
        .map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    let dispatch = decision.effect;
    // Whoever has it by now ends it.
    let _ended_here = keeping.give_up(&run, GivenUp { reason, dispatch }).await?;
    Ok(())
}
