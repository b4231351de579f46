//! What a run was told and has not carried out: a fork of it would go on without that.

use interrupt_router::reroute::RerouteState;
use interrupt_router::{EventId, InterruptType, RunId};
use interrupts::EffectId;
use interrupts::life::{Decider, Family, Interrupt, State, Verdict};
use interrupts::store::{JournalEntry, PendingInput, Run};
use serde_json::Value;

use super::{Fork, undelivered};
use crate::tables::{Failed, Tables};

/// The kind of the journal's entries with what was said to a run that goes on.
const INPUT: &str = "input";

pub(super) fn want(run: RunId, tables: &mut Tables) {
    undelivered::want(run, tables);
    tables.runs.want(&run);
    tables.live.want(&run);
}

/// What a fork of a run would go on without; `None` if there is nothing, or if the run stands elsewhere: what was said later
/// was about something else.
pub(super) fn of(
    run: &Run,
    fork: &Fork,
    tables: &mut Tables,
) -> Result<Option<PendingInput>, Failed> {
    if run.goes_on_from() == Some(fork.from) {
        let journal = journal(run.id, fork, tables)?;
        if let Some(answer) = answer(&journal, tables)? {
            return Ok(Some(answer));
        }
        if has_words(run.id, fork, &journal, tables)? {
            return Ok(Some(PendingInput::Words));
        }
        if let Some(event) = event(run.id, tables)? {
            return Ok(Some(event));
        }
    }
    let waiting = undelivered::waiting(run.id, tables)?;
    Ok(waiting.map(PendingInput::Messages))
}

/// The journal of a run: what was read before the transaction, and what has come since.
fn journal(run: RunId, fork: &Fork, tables: &mut Tables) -> Result<Vec<JournalEntry>, Failed> {
    let seen = match run == fork.from.run {
        true => fork.journal.as_slice(),
        false => &[],
    };
    let last = seen.last().map_or(0, |entry| entry.position);
    let mut journal = seen.to_vec();
    journal.extend(tables.journal_after(run, last)?);
    Ok(journal)
}

fn answer(journal: &[JournalEntry], tables: &mut Tables) -> Result<Option<PendingInput>, Failed> {
    for entry in journal.iter().filter(|it| it.result.is_none()) {
        let Some(id) = entry.dispatched() else {
            continue;
        };
        let now = tables.journal.get(&entry.intent.effect)?;
        if now.is_none_or(|entry| entry.result.is_some()) {
            continue;
        }
        let row = tables.interrupts.get(&id)?;
        if row.is_some_and(|row| says_something(&row.interrupt)) {
            return Ok(Some(PendingInput::Answer(id)));
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

/// Whether something was said to the run that its checkpoint does not have.
fn has_words(
    run: RunId,
    fork: &Fork,
    journal: &[JournalEntry],
    tables: &mut Tables,
) -> Result<bool, Failed> {
    for entry in journal.iter().filter(|it| it.intent.kind.as_str() == INPUT) {
        let is_there = if fork.from.run == run {
            let result = entry.result.as_ref();
            result.is_some_and(|result| result.count <= fork.count)
        } else {
            // A fork that has no checkpoint of its own has taken over what the other run had.
            let place = entry.intent.place.as_deref().unwrap_or_default();
            let there = EffectId::in_run(fork.from.run, place);
            tables.journal.get(&there)?.is_some()
        };
        if !is_there {
            return Ok(true);
        }
    }
    Ok(false)
}

fn event(run: RunId, tables: &mut Tables) -> Result<Option<PendingInput>, Failed> {
    for interrupt in tables.live_interrupts(run)? {
        let event = if matches!(interrupt.state, State::Requested | State::Delivered) {
            EventId::try_from(interrupt.key.as_str().to_owned()).ok()
        } else {
            interrupt.bound.map(|bound| bound.event)
        };
        let Some(event) = event else { continue };
        let row = tables.reroutes.get(&event)?;
        if row.is_some_and(|row| {
            matches!(
                row.state,
                RerouteState::Pending | RerouteState::Bound { .. }
            )
        }) {
            return Ok(Some(PendingInput::Reroute(event)));
        }
    }
    Ok(None)
}
