//! Carries out what the keys ask for, through the store.

use interrupts::life::{Choosing, Interrupt, Judge, ReviewChange, Scope, Verdict, WithdrawCause};
use interrupts::store::{Admitted, NewMessage, Run};
use interrupts::{Digest, IdempotencyKey};
use jiff::{SignedDuration, Timestamp};
use routing_core::{DecisionId, InterruptId, InterruptType, NodeId, RunId, StopMode};
use serde_json::json;
use uuid::Uuid;

use super::action::{Action, Done};
use crate::actor::actor;
use crate::address::full;
use crate::exit::{Exit, Failure};
use crate::plan;
use crate::policy;
use crate::refused::{by_admission, by_change, by_mailbox, by_store, no_interrupt};
use crate::request::{self, Addressee, Stop};
use crate::storage::Storage;

/// How long a claim holds.
const CLAIM: SignedDuration = SignedDuration::from_mins(5);

/// Carries out an action that concerns the store.
///
/// # Cancel safety
///
/// Dropped, it was done or not; the next snapshot shows it.
pub(super) async fn perform(storage: &Storage, action: Action) -> Done {
    let done = match action {
        Action::Interrupt { run, node, mode } => interrupt(storage, run, node, mode).await,
        Action::Harden { interrupt } => harden(storage, interrupt).await,
        Action::Resume { interrupt, input } => resume(storage, interrupt, input).await,
        Action::Suggest { run, request } => {
            let proposed = suggest(storage, run, &request).await;
            return proposed.unwrap_or_else(|failure| Done::NotProposed(failure.to_string()));
        }
        Action::ApplyPlan { run, digest } => apply_plan(storage, run, &digest).await,
        Action::Withdraw { interrupt } => withdraw(storage, interrupt).await,
        Action::Stop { run, scope } => stop(storage, run, scope).await,
        Action::Decide { .. } => decide(storage, action).await,
        Action::Claim {
            interrupt,
            version,
            take,
        } => claim(storage, interrupt, version, take).await,
        Action::Send { run, node, text } => send(storage, run, node, text).await,
        // The terminal's own business.
        Action::Copy(_) | Action::Edit { .. } | Action::Quit => Ok(Done::Told(String::new())),
    };
    done.unwrap_or_else(|failure| {
        let hint = failure.advice().map(|hint| format!(" — {hint}"));
        Done::Refused(format!("{failure}{}", hint.unwrap_or_default()))
    })
}

async fn addressee(
    storage: &Storage,
    run: RunId,
    node: Option<NodeId>,
) -> Result<Addressee, Failure> {
    let store = &*storage.store;
    let gone = || Failure::new(Exit::NotFound, format!("there is no {run}"));
    let found = store.run(run).await.map_err(|error| by_store(&error))?;
    let found = found.ok_or_else(gone)?;
    let Some(node) = node else {
        return Addressee::whole(store, found).await;
    };
    let row = store.node(run, &node).await;
    let row = row.map_err(|error| by_store(&error))?.ok_or_else(gone)?;
    Ok(Addressee::agent(found, &row))
}

fn me() -> Result<interrupts::life::Actor, Failure> {
    actor().map_err(|error| Failure::new(Exit::Usage, error.to_string()))
}

async fn admit(storage: &Storage, to: &Addressee, wanted: &Stop) -> Result<Interrupt, Failure> {
    let admission = request::stop(to, wanted, &policy::of_environment()?, me()?)?;
    let admitted: Admitted = storage
        .store
        .admit(admission)
        .await
        .map_err(|error| by_admission(&error))?;
    storage.ring(&to.run).await;
    Ok(admitted.into_interrupt())
}

async fn interrupt(
    storage: &Storage,
    run: RunId,
    node: Option<NodeId>,
    mode: StopMode,
) -> Result<Done, Failure> {
    let scope = if node.is_some() {
        Scope::Agent
    } else {
        Scope::Run
    };
    let to = addressee(storage, run, node).await?;
    let wanted = Stop {
        interrupt_type: InterruptType::Pause,
        mode,
        scope,
        reason: "interrupted from the terminal".to_owned(),
    };
    let interrupt = admit(storage, &to, &wanted).await?;
    Ok(Done::Interrupted {
        interrupt: interrupt.id,
    })
}

async fn stop(storage: &Storage, run: RunId, scope: Scope) -> Result<Done, Failure> {
    let to = addressee(storage, run, None).await?;
    let wanted = Stop {
        interrupt_type: InterruptType::Stop,
        mode: StopMode::Immediate,
        scope,
        reason: "ended from the terminal".to_owned(),
    };
    let interrupt = admit(storage, &to, &wanted).await?;
    Ok(Done::Told(format!(
        "{run} is told to end ({})",
        interrupt.id
    )))
}

async fn harden(storage: &Storage, id: InterruptId) -> Result<Done, Failure> {
    let raised = storage
        .store
        .raise_mode(id, me()?, StopMode::Immediate)
        .await;
    let raised = raised.map_err(|error| by_change(id, &error))?;
    ring(storage, raised.run).await?;
    Ok(Done::Told("Stopping now.".to_owned()))
}

async fn withdraw(storage: &Storage, id: InterruptId) -> Result<Done, Failure> {
    let withdrawn = storage
        .store
        .withdraw(id, me()?, WithdrawCause::Withdrawn)
        .await;
    let withdrawn = withdrawn.map_err(|error| by_change(id, &error))?;
    ring(storage, withdrawn.run).await?;
    Ok(Done::Told("Taken back: it goes on unchanged.".to_owned()))
}

async fn resume(
    storage: &Storage,
    id: InterruptId,
    input: Option<String>,
) -> Result<Done, Failure> {
    let found = storage.store.interrupt(id).await;
    let interrupt = found
        .map_err(|error| by_store(&error))?
        .ok_or_else(|| no_interrupt(id))?;
    let Some(review) = &interrupt.review else {
        return Err(Failure::new(
            Exit::Conflict,
            format!("{id} is {}", interrupt.state),
        ));
    };
    let judge = Judge::Person {
        actor: me()?,
        version: interrupt.version,
        shown: review.shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: if input.is_some() {
            Verdict::Respond
        } else {
            Verdict::Resume
        },
        target: None,
        content: input.map(|input| json!({ "input": input }).to_string()),
    };
    let decided = storage.store.decide(id, judge, choosing).await;
    decided.map_err(|error| by_change(id, &error))?;
    told_to_go_on(storage, interrupt.run).await
}

/// What to say of a run that may go on now.
async fn told_to_go_on(storage: &Storage, run: RunId) -> Result<Done, Failure> {
    let found = storage.store.run(run).await;
    let found = found.map_err(|error| by_store(&error))?;
    if let Some(found) = &found {
        storage.ring(found).await;
        if !crate::storage::is_owned(found) {
            return Ok(Done::Told(format!(
                "Decided. No process runs it now: irq resume {run}"
            )));
        }
    }
    Ok(Done::Told("Decided; it goes on.".to_owned()))
}

async fn run_of(storage: &Storage, run: RunId) -> Result<Run, Failure> {
    let found = storage.store.run(run).await;
    let found = found.map_err(|error| by_store(&error))?;
    found.ok_or_else(|| Failure::new(Exit::NotFound, format!("there is no {run}")))
}

async fn suggest(storage: &Storage, run: RunId, request: &str) -> Result<Done, Failure> {
    let row = run_of(storage, run).await?;
    let wanted = plan::suggestion(&row, request)?;
    let changed = plan::change(storage, &row, wanted, None).await?;
    Ok(match plan::proposal_of(&changed)? {
        Some(preview) => Done::Proposed {
            run,
            preview: Box::new(preview),
        },
        None => Done::NotProposed("nothing was proposed".to_owned()),
    })
}

async fn apply_plan(storage: &Storage, run: RunId, digest: &Digest) -> Result<Done, Failure> {
    let row = run_of(storage, run).await?;
    plan::apply(storage, &row, &digest.to_string()).await?;
    told_to_go_on(storage, run).await
}

async fn decide(storage: &Storage, action: Action) -> Result<Done, Failure> {
    let Action::Decide {
        interrupt,
        version,
        shown,
        verdict,
        target,
        answer,
    } = action
    else {
        return Ok(Done::Told(String::new()));
    };
    let content = serde_json::to_string(&answer)
        .map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    let judge = Judge::Person {
        actor: me()?,
        version,
        shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict,
        target,
        content: Some(content),
    };
    let decided = storage.store.decide(interrupt, judge, choosing).await;
    let decided = decided.map_err(|error| by_change(interrupt, &error))?;
    told_to_go_on(storage, decided.run).await
}

async fn claim(
    storage: &Storage,
    id: InterruptId,
    version: u64,
    take: bool,
) -> Result<Done, Failure> {
    let until = Timestamp::now()
        .checked_add(CLAIM)
        .unwrap_or(Timestamp::MAX);
    let change = if take {
        ReviewChange::Claim { until }
    } else {
        ReviewChange::Release
    };
    let changed = storage.store.review(id, me()?, version, change).await;
    changed.map_err(|error| by_change(id, &error))?;
    Ok(Done::Told(
        if take {
            "Claimed for 5 minutes."
        } else {
            "Given back."
        }
        .to_owned(),
    ))
}

async fn send(storage: &Storage, run: RunId, node: NodeId, text: String) -> Result<Done, Failure> {
    let key = IdempotencyKey::new(format!("send-{}", Uuid::now_v7()))
        .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    let message = NewMessage {
        run,
        node: node.clone(),
        text,
        from: me()?,
        key,
    };
    let sent = storage.store.send_message(message).await;
    sent.map_err(|error| by_mailbox(&error))?;
    ring(storage, run).await?;
    Ok(Done::Told(format!(
        "{} reads it at the start of its next turn.",
        full(run, &node)
    )))
}

async fn ring(storage: &Storage, run: RunId) -> Result<(), Failure> {
    let found = storage.store.run(run).await;
    if let Some(run) = found.map_err(|error| by_store(&error))? {
        storage.ring(&run).await;
    }
    Ok(())
}
