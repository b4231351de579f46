//! Paused runs that no process executes. If the last pause ends and a question of one of their agents is open, they
//! wait for its answer, from the transaction on that ends the pause.

use interrupts::life::{Decider, Interrupt, RunState, State, Verdict};
use interrupts::store::Run;
use jiff::Timestamp;
use routing_core::{InterruptId, RunId};

use super::holding;
use super::run::{enter, open_among};
use crate::tables::{Failed, Tables};

/// Why a run waits, in words.
const ASKS: &str = "it waits for an answer";

/// A paused run as it was seen before a pause of it ends.
#[derive(Debug, Clone)]
pub(crate) struct PausedRun {
    run: RunId,
    /// A process that has owned the run since has changed it.
    version: u64,
    /// What else pauses it.
    pub(crate) pauses: Vec<InterruptId>,
    /// What its agents ask.
    questions: Vec<InterruptId>,
}

impl PausedRun {
    /// What is seen of a paused run that no process executes, if one of its agents asks something. The interrupt that
    /// ends is not among what pauses it.
    pub(crate) fn of(
        run: &Run,
        live: &[Interrupt],
        ends: InterruptId,
        now: Timestamp,
    ) -> Option<Self> {
        if !rests(run, now) {
            return None;
        }
        let ids = |of: fn(&Interrupt) -> bool| -> Vec<InterruptId> {
            let found = live.iter().filter(|it| of(it) && it.id != ends);
            found.map(|it| it.id).collect()
        };
        let questions = ids(asks);
        (!questions.is_empty()).then(|| Self {
            run: run.id,
            version: run.version,
            pauses: ids(Interrupt::pauses_run),
            questions,
        })
    }
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

pub(super) fn want(resting: &PausedRun, tables: &mut Tables) {
    tables.runs.want(&resting.run);
    for id in resting.pauses.iter().chain(&resting.questions) {
        tables.interrupts.want(id);
    }
}

/// Lets a paused run wait, if what has ended was the last that paused it.
pub(super) fn wait(
    ended: InterruptId,
    resting: &PausedRun,
    tables: &mut Tables,
) -> Result<(), Failed> {
    let Some(row) = tables.runs.get(&resting.run)?.cloned() else {
        return Ok(());
    };
    if row.run.version != resting.version || !rests(&row.run, tables.now) {
        return Ok(());
    }
    if !holding::found(ended, tables)?.is_some_and(|it| has_let_go(&it)) {
        return Ok(());
    }
    for pause in &resting.pauses {
        if holding::is_live(*pause, tables)? == Some(true) {
            return Ok(());
        }
    }
    for question in &resting.questions {
        let Some(question) = holding::found(*question, tables)? else {
            continue;
        };
        if asks(&question) && holding::free(question, tables)?.held_by.is_none() {
            let open = open_among(&resting.questions, tables)?;
            let waits = (RunState::Waiting, Some(ASKS.to_owned()));
            enter(row, waits, open, tables)?;
            return Ok(());
        }
    }
    Ok(())
}

/// Whether an interrupt paused a run, and ended without giving the run up: a run that was given up is about to end.
fn has_let_go(ended: &Interrupt) -> bool {
    let gives_up = ended.decision.as_ref().is_some_and(|decision| {
        decision.verdict == Verdict::Cancel && decision.by != Decider::Deadline
    });
    ended.pauses_run() && !ended.state.is_live() && !gives_up
}
