//! A stop of a run that no process runs: this process owns the run for a moment, and nothing of it works.

use interrupts::life::{Choosing, Evidence, Interrupt, Judge, RunState, Verdict};
use interrupts::store::{Delivery, NodeActivity, NodeRow, Run, RunError};
use interrupts::{Digest, OwnerName};
use jiff::SignedDuration;
use routing_core::{DecisionId, InterruptType};

use crate::exit::{Exit, Failure};
use crate::keep::gone_owner;
use crate::listing;
use crate::refused::{by_change, by_run, by_store};
use crate::storage::Storage;

/// How long this process may hold the run.
const LEASE: SignedDuration = SignedDuration::from_secs(10);

/// Lets a PAUSE or STOP of the whole run take hold. `None` where it is neither, or a process has come to own
/// the run meanwhile, which then does it.
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
    let is_whole = interrupt.scope == interrupts::life::Scope::Run;
    let state = match interrupt.interrupt_type {
        InterruptType::Pause if is_whole => RunState::Paused,
        InterruptType::Stop if is_whole => RunState::Cancelled,
        InterruptType::Pause
        | InterruptType::Stop
        | InterruptType::Prune
        | InterruptType::Branch
        | InterruptType::HumanReview
        | InterruptType::AgentReview => return Ok(None),
    };
    if interrupt.review.is_some() {
        return Ok(None);
    }
    let delivery = delivery(run)?;
    let run = match storage.store.own_run(interrupt.run, delivery.clone()).await {
        Ok(run) => run,
        Err(RunError::Owned { .. } | RunError::Illegal { .. }) => return Ok(None),
        Err(error) => return Err(by_run(&error)),
    };
    let ended = apply(storage, interrupt, delivery, &run, state).await;
    let released = storage.store.release_run(run.id, run.epoch).await;
    let ended = ended?;
    released.map_err(|error| by_run(&error))?;
    Ok(Some(ended))
}

fn delivery(run: &Run) -> Result<Delivery, Failure> {
    let name = format!("irq-interrupt-{}", std::process::id());
    let owner =
        OwnerName::new(name).map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    Ok(Delivery {
        owner,
        lease: LEASE,
        lost: gone_owner(run),
    })
}

async fn apply(
    storage: &Storage,
    interrupt: &Interrupt,
    delivery: Delivery,
    run: &Run,
    state: RunState,
) -> Result<Interrupt, Failure> {
    let (store, id) = (&*storage.store, interrupt.id);
    let failed = |error| by_change(id, &error);
    let delivered = store.deliver(id, delivery).await.map_err(failed)?;
    let epoch = delivered.epoch;
    let held = store
        .acknowledge(id, epoch, Evidence::Cancelled)
        .await
        .map_err(failed)?;
    let reason = Some(interrupt.reason.clone());
    if state == RunState::Paused {
        let shown = Digest::of(held.content.as_bytes());
        let waiting = store
            .require_review(id, epoch, shown)
            .await
            .map_err(failed)?;
        if run.state.may_become(state) {
            change(storage, run, state, reason).await?;
        }
        return Ok(waiting);
    }
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: Verdict::Applied,
        target: None,
        content: None,
    };
    let applied = store.decide(id, Judge::Policy { epoch }, choosing).await;
    let applied = applied.map_err(failed)?;
    cancel_agents(storage, run).await?;
    change(storage, run, state, reason).await?;
    Ok(applied)
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

async fn change(
    storage: &Storage,
    run: &Run,
    state: RunState,
    reason: Option<String>,
) -> Result<(), Failure> {
    let changed = storage.store.change_run(run.id, run.epoch, state, reason);
    changed.await.map_err(|error| by_run(&error))?;
    Ok(())
}
