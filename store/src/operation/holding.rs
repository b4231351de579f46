//! What follows from the end of a stop, in the transaction that ends it: the questions that it held are shown again, or the
//! next stop holds them; and its run waits, where only a question of one of its agents is open and no process executes it.

use interrupt_router::{InterruptId, StopSource};
use interrupts::ActorName;
use interrupts::life::{
    Actor, Decider, Event, Family, Interrupt, Refusal, ReviewChange, Role, RunState, Scope, State,
    Verdict,
};
use interrupts::store::{ChangeError, Run};
use jiff::Timestamp;

use super::Halt;
use super::run::{enter, open_among};
use crate::tables::{Failed, Tables, damaged};

/// The actor that holds questions and lets go of them.
const HOLDER: &str = "holder";

/// Why a run waits, in words.
const ASKS: &str = "it waits for an answer";

/// Does what follows, where a stop has ended.
pub(super) fn follow(ended: &Interrupt, tables: &mut Tables) -> Result<(), Failed> {
    if ended.family() != Family::Stop || ended.state.is_live() {
        return Ok(());
    }
    // Only what a user asks for goes before what agents ask.
    if ended.source == StopSource::User {
        let_go(ended, tables)?;
    }
    if has_let_go(ended) {
        wait(ended, tables)?;
    }
    Ok(())
}

/// Shows the questions again that an ended stop holds, or lets the next stop hold them.
fn let_go(stop: &Interrupt, tables: &mut Tables) -> Result<(), Failed> {
    let live = tables.live_interrupts(stop.run)?;
    for question in live.iter().filter(|it| it.held_by == Some(stop.id)) {
        let Ok(shown) = change(question, ReviewChange::Unhold { by: stop.id }, tables)? else {
            continue;
        };
        if let Some(next) = live.iter().find(|it| holds(it, question)) {
            // One that cannot be held waits for a person as before.
            let _held = change(&shown, ReviewChange::Hold { by: next.id }, tables)?;
        }
    }
    Ok(())
}

/// Whether a live stop goes before a question.
fn holds(stop: &Interrupt, question: &Interrupt) -> bool {
    let reaches = match stop.scope {
        Scope::Run => true,
        Scope::Agent => question.node.is_within(&stop.node),
    };
    stop.family() == Family::Stop && stop.source == StopSource::User && reaches
}

fn change(
    question: &Interrupt,
    change: ReviewChange,
    tables: &mut Tables,
) -> Result<Result<Interrupt, Refusal>, Failed> {
    let event = Event::Review {
        actor: Actor {
            name: ActorName::new(HOLDER).map_err(|error| damaged(&error))?,
            role: Role::System,
        },
        version: question.version,
        change,
    };
    match question.after(&event, tables.now) {
        Ok(step) => Ok(Ok(tables.perform(step)?)),
        Err(refusal) => {
            tracing::warn!(question = %question.id, %refusal, "what held the question has ended");
            Ok(Err(refusal))
        }
    }
}

/// Whether an interrupt paused a run, and ended without giving the run up: a run that was given up is about to end.
fn has_let_go(ended: &Interrupt) -> bool {
    let gives_up = ended.decision.as_ref().is_some_and(|decision| {
        decision.verdict == Verdict::Cancel && decision.by != Decider::Deadline
    });
    ended.pauses_run() && !gives_up
}

/// Lets a paused run wait, if what has ended was the last that paused it.
fn wait(ended: &Interrupt, tables: &mut Tables) -> Result<(), Failed> {
    let Some(row) = tables.runs.get(&ended.run)?.cloned() else {
        return Ok(());
    };
    if !rests(&row.run, tables.now) {
        return Ok(());
    }
    let live = tables.live_interrupts(ended.run)?;
    if live.iter().any(Interrupt::pauses_run) {
        return Ok(());
    }
    for question in live.iter().filter(|it| asks(it)) {
        if free(question.clone(), tables)?.held_by.is_none() {
            let waits = (RunState::Waiting, Some(ASKS.to_owned()));
            let open = open_among(live.iter().filter(|it| asks(it)));
            enter(row, waits, open, tables)?;
            return Ok(());
        }
    }
    Ok(())
}

/// Whether a run is paused and no process executes it.
fn rests(run: &Run, now: Timestamp) -> bool {
    let is_owned = run.lease.as_ref().is_some_and(|lease| lease.until > now);
    run.state == RunState::Paused && !is_owned
}

/// Whether a person is asked, and the run waits for it.
fn asks(interrupt: &Interrupt) -> bool {
    interrupt.is_waited_on() && interrupt.state == State::AwaitingReview
}

/// Refuses to let an ended stop hold a question.
pub(super) fn check_holder(
    change: &ReviewChange,
    tables: &mut Tables,
) -> Result<(), Halt<ChangeError>> {
    if let ReviewChange::Hold { by } = change
        && has_ended(*by, tables)?
    {
        let refusal = Refusal::NotHeld { by: *by };
        return Err(Halt::Refused(refusal.into()));
    }
    Ok(())
}

/// The question as the person who decides sees it: earlier versions left some held by stops that had ended.
pub(super) fn free(mut question: Interrupt, tables: &mut Tables) -> Result<Interrupt, Failed> {
    if let Some(by) = question.held_by
        && has_ended(by, tables)?
    {
        question.held_by = None;
    }
    Ok(question)
}

/// Whether there is such a stop, and it has ended.
fn has_ended(stop: InterruptId, tables: &mut Tables) -> Result<bool, Failed> {
    let row = tables.interrupts.get(&stop)?;
    Ok(row.is_some_and(|row| !row.interrupt.state.is_live()))
}
