//! Deciding an interrupt as it was shown.

use interrupts::life::{Choosing, Interrupt, Judge, Refusal, State};
use interrupts::rules::Remember;
use interrupts::store::{Deciding, Run, TogetherError};
use routing_core::DecisionId;

use super::chosen::Chosen;
use crate::actor::actor;
use crate::arguments::verdict_name;
use crate::exit::{Exit, Failure};
use crate::plan::checked;
use crate::refused::{by_change, by_life, by_store};
use crate::storage::{Storage, is_owned};

/// Decides. `shown` is the interrupt as the person saw it: where it has changed since, nothing is decided.
///
/// # Errors
///
/// [`Exit::Conflict`] with the decision that stands, or with what has changed.
///
/// # Cancel safety
///
/// Dropped, it was decided or not: look to see.
pub(in crate::commands) async fn decide(
    storage: &Storage,
    shown: &Interrupt,
    chosen: Chosen,
    if_version: Option<u64>,
    remember: Option<Remember>,
) -> anyhow::Result<Interrupt> {
    let deciding = deciding(storage, shown, chosen, if_version, remember).await?;
    match decide_together(storage, vec![deciding]).await? {
        Ok(decided) => Ok(decided.into_iter().next().unwrap_or_else(|| shown.clone())),
        Err(refused) => Err(match refused.into_iter().next() {
            Some((_place, failure)) => failure.into(),
            None => not_open(shown).into(),
        }),
    }
}

/// A decision about an interrupt as it was shown.
///
/// # Errors
///
/// [`Exit::Conflict`] where it is not open.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn deciding(
    storage: &Storage,
    shown: &Interrupt,
    chosen: Chosen,
    if_version: Option<u64>,
    remember: Option<Remember>,
) -> anyhow::Result<Deciding> {
    let version = if_version.unwrap_or(shown.version);
    let Some(review) = shown.review.as_ref().filter(|_review| is_open(shown)) else {
        return Err(not_open(shown).into());
    };
    let content = chosen.content.as_deref();
    let content = match checked(storage, shown, chosen.verdict, content).await? {
        Some((_preview, bound)) => Some(bound),
        None => chosen.content,
    };
    let judge = Judge::Person {
        actor: actor()?,
        version,
        shown: review.shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: chosen.verdict,
        target: chosen.target,
        content,
    };
    Ok(Deciding {
        interrupt: shown.id,
        judge,
        choosing,
        remember,
    })
}

/// What was refused, each with its place.
pub(super) type Refused = Vec<(usize, Failure)>;

/// Decides all of these in one transaction, or none; then says why not of each that was refused.
///
/// # Errors
///
/// Where the store failed.
///
/// # Cancel safety
///
/// Dropped, all were decided or none: look to see.
pub(super) async fn decide_together(
    storage: &Storage,
    decisions: Vec<Deciding>,
) -> anyhow::Result<Result<Vec<Interrupt>, Refused>> {
    let decided = match storage.store.decide_together(decisions).await {
        Ok(decided) => decided,
        Err(TogetherError::Refused(refused)) => {
            let refused = refused.into_iter();
            let told = refused.map(|one| (one.place, by_change(one.interrupt, &one.error)));
            return Ok(Err(told.collect()));
        }
        Err(TogetherError::Store(error)) => return Err(by_store(&error).into()),
        Err(error) => return Err(Failure::new(Exit::Failure, error.to_string()).into()),
    };
    let mut rung = Vec::new();
    for one in &decided {
        if rung.contains(&one.run) {
            continue;
        }
        rung.push(one.run);
        let run = storage.store.run(one.run).await;
        if let Some(run) = run.map_err(|error| by_store(&error))? {
            storage.ring(&run).await;
        }
    }
    Ok(Ok(decided))
}

fn is_open(interrupt: &Interrupt) -> bool {
    interrupt.state == State::AwaitingReview
}

/// Why an interrupt cannot be decided by a person now.
pub(super) fn not_open(interrupt: &Interrupt) -> Failure {
    if interrupt.state.is_final() {
        let refusal = Refusal::Ended {
            state: interrupt.state,
            event: "decide",
            decision: interrupt.decision.clone().map(Box::new),
        };
        return by_life(interrupt.id, &refusal);
    }
    let waits_for = match interrupt.state {
        State::Requested | State::Delivered => "its agent has not taken it up yet",
        State::Acknowledged => "no person is needed so far",
        State::DeadLettered => "it could not be delivered; `irq redrive` tries again",
        State::AwaitingReview
        | State::Resolved
        | State::Rerouted
        | State::Expired
        | State::Cancelled => "it is not open",
    };
    let text = format!("{} is {}: {waits_for}", interrupt.id, interrupt.state);
    Failure::new(Exit::Conflict, text).hint(format!("`irq history --interrupt {}`", interrupt.id))
}

/// What was decided, and who goes on with it.
pub(in crate::commands) fn told(decided: &Interrupt, run: Option<&Run>) -> String {
    let Some(decision) = &decided.decision else {
        return format!("{} is {}.\n", decided.id, decided.state);
    };
    let mut text = format!(
        "{}: {}, to {}.\n",
        decided.id,
        verdict_name(decision.verdict),
        decision.target
    );
    if let Some(run) = run.filter(|run| !is_owned(run) && !run.state.is_final()) {
        text.push_str(&format!(
            "No process runs it now. Go on with: irq resume {}\n",
            run.id
        ));
    }
    text
}
