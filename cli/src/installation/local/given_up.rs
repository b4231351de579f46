//! A run that was given up while no process runs it: this process owns it for a moment, and ends it.

use agents::run::{RunOrder, Workflow, given_up_because};
use interrupts::OwnerName;
use interrupts::life::{Interrupt, RunState};
use interrupts::store::{Delivery, JournalError, NodeActivity, NodeRow, Run, RunError};
use jiff::SignedDuration;

use crate::exit::{Exit, Failure};
use crate::keep::gone_owner;
use crate::listing;
use crate::refused::{by_run, by_store};
use crate::storage::{Storage, is_owned};

/// How long this process may hold the run.
const LEASE: SignedDuration = SignedDuration::from_secs(10);

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
    let found = storage.store.run(pause.run).await;
    let Some(run) = found.map_err(|error| by_store(&error))? else {
        return Ok(());
    };
    let is_left = !is_owned(&run) || gone_owner(&run).is_some();
    if !is_left || run.state.is_final() || !is_of_agents(&run) {
        return Ok(());
    }
    let run = match storage.store.own_run(run.id, delivery(&run)?).await {
        Ok(run) => run,
        // Whoever has it now ends it, or it has ended.
        Err(RunError::Owned { .. } | RunError::Illegal { .. }) => return Ok(()),
        Err(error) => return Err(by_run(&error)),
    };
    let ended = async {
        cancel_agents(storage, &run).await?;
        let state = RunState::Cancelled;
        let changed = storage
            .store
            .change_run(run.id, run.epoch, state, Some(reason));
        changed.await.map_err(|error| by_run(&error))?;
        // Last of all: until the run has ended, the decision is not carried out.
        let done = storage
            .store
            .finish(run.epoch, decision.effect, "{}".to_owned());
        done.await.map_err(|error| unfinished(&error))
    };
    let ended = ended.await;
    let released = storage.store.release_run(run.id, run.epoch).await;
    ended?;
    released.map_err(|error| by_run(&error))?;
    Ok(())
}

fn delivery(run: &Run) -> Result<Delivery, Failure> {
    let name = format!("irq-review-{}", std::process::id());
    let owner =
        OwnerName::new(name).map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    Ok(Delivery {
        owner,
        lease: LEASE,
        lost: gone_owner(run),
    })
}

async fn cancel_agents(storage: &Storage, run: &Run) -> Result<(), Failure> {
    let nodes = listing::nodes_in(&*storage.store, run.id).await;
    let cancelled: Vec<NodeRow> = nodes
        .map_err(|error| by_store(&error))?
        .into_iter()
        .filter(|row| !row.activity.is_final())
        .map(|row| NodeRow {
            activity: NodeActivity::Cancelled,
            takes_messages: false,
            ..row
        })
        .collect();
    let put = storage.store.put_nodes(run.id, run.epoch, cancelled).await;
    put.map_err(|error| by_run(&error))
}

/// An order that cannot be read is of the workflow that orders had before they named one.
fn is_of_agents(run: &Run) -> bool {
    let order = RunOrder::from_content(&run.content);
    let workflow = order.map_or_else(|_unreadable| Workflow::default(), |order| order.workflow);
    workflow == Workflow::Agents
}

fn unfinished(error: &JournalError) -> Failure {
    match error {
        JournalError::Store(error) => by_store(error),
        JournalError::UnknownRun { .. }
        | JournalError::UnknownEffect { .. }
        | JournalError::Fenced { .. }
        | JournalError::OtherIntent { .. }
        | JournalError::OtherResult { .. }
        | _ => Failure::new(Exit::Failure, error.to_string()),
    }
}
