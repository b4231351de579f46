//! What a run was told and has not carried out: a fork of it would go on without that.

use std::fmt;

use routing_core::{EventId, InterruptId, InterruptType, reroute::RerouteState};
use serde::Deserialize;
use serde_json::Value;

use super::{CheckpointId, Filter, JournalEntry, Pages, Run, Store, StoreError};
use crate::EffectId;
use crate::life::{Decider, Family, Interrupt, State, Verdict};

/// The kind of effect that carries out a decision.
const DISPATCH: &str = "dispatch";

/// The kind of the journal's entries with what was said to a run that goes on.
const INPUT: &str = "input";

/// How many rows are read together.
const PAGE: u32 = 500;

/// The part of a dispatch's journal entry that is needed to find its interrupt.
#[derive(Deserialize)]
struct Dispatch {
    interrupt: InterruptId,
}

/// The interrupt whose decision an entry of the journal carries out.
pub(crate) fn dispatched(entry: &JournalEntry) -> Option<InterruptId> {
    if entry.intent.kind.as_str() != DISPATCH {
        return None;
    }
    let dispatch: Dispatch = serde_json::from_str(&entry.intent.content).ok()?;
    Some(dispatch.interrupt)
}

/// What a run was told and has not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingInput {
    /// The answer to a question, or what was said with the end of a pause.
    Answer(InterruptId),
    /// What was said to it when it was asked to go on.
    Words,
    /// What a supervisor has asked of one of its agents.
    Reroute(EventId),
}

impl fmt::Display for PendingInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(interrupt) => {
                write!(
                    formatter,
                    "the answer to {interrupt} is not carried out yet"
                )
            }
            Self::Words => write!(formatter, "what was said to it is not read yet"),
            Self::Reroute(event) => write!(formatter, "the event {event} is not carried out yet"),
        }
    }
}

impl PendingInput {
    /// What a fork from this checkpoint would go on without; `None` if there is nothing, or the run stands elsewhere: what
    /// was said later was about something else. Messages are not among it: the store refuses a fork while some wait.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn at(
        store: &dyn Store,
        run: &Run,
        from: CheckpointId,
    ) -> Result<Option<Self>, StoreError> {
        if run.goes_on_from() != Some(from) {
            return Ok(None);
        }
        if let Some(answer) = answer(store, run).await? {
            return Ok(Some(answer));
        }
        if has_words(store, run, from).await? {
            return Ok(Some(Self::Words));
        }
        event(store, run).await
    }
}

async fn answer(store: &dyn Store, run: &Run) -> Result<Option<PendingInput>, StoreError> {
    let mut pages = Pages::of(PAGE);
    while let Some(open) = pages
        .next(|page| store.unknown_effects(run.id, page))
        .await?
    {
        for id in open.iter().filter_map(dispatched) {
            if store
                .interrupt(id)
                .await?
                .is_some_and(|row| says_something(&row))
            {
                return Ok(Some(PendingInput::Answer(id)));
            }
        }
    }
    Ok(None)
}

/// Whether a fork would miss its decision. It does not miss that a deadline passed, that the run was given up, or that it
/// continued unchanged.
fn says_something(interrupt: &Interrupt) -> bool {
    let Some(decision) = &interrupt.decision else {
        return false;
    };
    if decision.by == Decider::Deadline || decision.verdict == Verdict::Applied {
        return false;
    }
    if interrupt.interrupt_type == InterruptType::Pause && decision.verdict == Verdict::Cancel {
        return false;
    }
    if interrupt.family() == Family::Question || interrupt.is_raised_by_agent() {
        return true;
    }
    let content = decision.content.as_deref().map(serde_json::from_str);
    let Some(Ok(Value::Object(said))) = content else {
        return false;
    };
    ["plan", "input", "text"]
        .iter()
        .any(|name| said.contains_key(*name))
}

/// Whether something was said to it that its checkpoint does not have.
async fn has_words(store: &dyn Store, run: &Run, from: CheckpointId) -> Result<bool, StoreError> {
    let saved = store
        .checkpoint(from)
        .await?
        .map_or(0, |saved| saved.journal);
    let mut pages = Pages::of(PAGE);
    while let Some(entries) = pages.next(|page| store.journal(run.id, page)).await? {
        for entry in entries.iter().filter(|it| it.intent.kind.as_str() == INPUT) {
            let is_there = if from.run == run.id {
                entry
                    .result
                    .as_ref()
                    .is_some_and(|result| result.count <= saved)
            } else {
                // A fork that has no checkpoint of its own has taken over what the other run had.
                let place = entry.intent.place.as_deref().unwrap_or_default();
                store
                    .effect(EffectId::in_run(from.run, place))
                    .await?
                    .is_some()
            };
            if !is_there {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

async fn event(store: &dyn Store, run: &Run) -> Result<Option<PendingInput>, StoreError> {
    let filter = Filter {
        run: Some(run.id),
        ..Filter::default()
    };
    let mut pages = Pages::of(PAGE);
    while let Some(rows) = pages.next(|page| store.interrupts(&filter, page)).await? {
        for (_position, row) in rows {
            let event = match row.state {
                State::Requested | State::Delivered => {
                    EventId::try_from(row.key.as_str().to_owned()).ok()
                }
                State::Acknowledged | State::AwaitingReview => row.bound.map(|it| it.event),
                State::Resolved
                | State::Rerouted
                | State::Expired
                | State::Cancelled
                | State::DeadLettered => None,
            };
            let Some(event) = event else { continue };
            let reroute = store.reroute(&event).await?;
            if reroute.is_some_and(|it| {
                matches!(it.state, RerouteState::Pending | RerouteState::Bound { .. })
            }) {
                return Ok(Some(PendingInput::Reroute(event)));
            }
        }
    }
    Ok(None)
}
