//! Runs that go on by themselves: pauses that a policy ends after some time.

use std::time::Duration;

use engine::run::{InterruptRecord, InterruptResult, RunObserver as _, RunOccurrence, RunStatus};
use interrupts::life::{Family, RunState, State};
use interrupts::policy::Policy;
use interrupts::signals::{OsSignals, SignalSource};
use interrupts::store::{Filter, Run};
use jiff::Timestamp;

use super::after_visit::{end_of, goes_on_elsewhere};
use super::work::{Performing, Rest, closed};
use crate::address::find_run;
use crate::backend::Local;
use crate::due::{Due, is_free};
use crate::exit::{Exit, Failure, tell};
use crate::listing;
use crate::run_owner::has_process;
use crate::terminal_output::TerminalOutput;
use crate::time::instant;
use crate::visible::visible_line;

/// How often to check whether another caller has changed or taken the run.
const LOOK: Duration = Duration::from_secs(1);

/// The result of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitOutcome {
    /// Nothing was waited for, or a signal came: what was printed of the run is still true.
    AsTold,
    /// The time has come, or what the run waited for was decided.
    Due,
    /// Another caller was first: what was printed of the run is no longer true.
    Otherwise,
}

/// Waits until the policy ends all that a run waits for. Stops waiting if the run also waits for a person or anything else,
/// if another process has the run, or when a signal comes. `rest` is the state of the run; what it waits for is printed
/// before the waiting. `signals` have been heard since before the run was executed, which began at `since`. If the pause was
/// withdrawn after the run had received it, nothing is waited for, with or without a policy.
///
/// # Errors
///
/// If the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn waited(
    local: &Local,
    (policy, since): (Option<&Policy>, Timestamp),
    rest: &Rest,
    signals: &mut OsSignals,
) -> Result<WaitOutcome, Failure> {
    match was_taken_back(local, rest, since).await {
        Ok(true) => {
            tell("The pause was withdrawn; the run goes on.");
            return Ok(WaitOutcome::Due);
        }
        Ok(false) => {}
        // The run reports this failure itself.
        Err(error) => tracing::debug!(%error, "the interrupts of the run could not be read"),
    }
    let Some(policy) = policy else {
        return Ok(WaitOutcome::AsTold);
    };
    let mut told = None;
    loop {
        let row = find_run(local, &rest.report.run.to_string()).await?;
        let is_others = row.state.is_final() || works_elsewhere(&row);
        let mut left = LOOK;
        // Another process that has it lets a stop take effect or changes a plan, and then releases it.
        if is_others || !has_process(&row) {
            let due = Due::of(&*local.storage().store, policy, &row).await?;
            let Some(due) = due.filter(|_due| !is_others) else {
                return Ok(match told {
                    None => WaitOutcome::AsTold,
                    Some(_) if is_free(&*local.storage().store, &row).await? => WaitOutcome::Due,
                    Some(_) => WaitOutcome::Otherwise,
                });
            };
            if told.is_none() {
                say_why(rest);
            }
            if told.replace(due.at) != Some(due.at) {
                tell(format_args!(
                    "It goes on by itself at {}, as the policy says; Ctrl+C leaves it paused.",
                    instant(due.at)
                ));
            }
            let until = due.at.duration_since(Timestamp::now());
            if !until.is_positive() {
                return Ok(WaitOutcome::Due);
            }
            left = left.min(until.unsigned_abs());
        }
        tokio::select! {
            biased;
            _signal = signals.next() => return Ok(WaitOutcome::AsTold),
            () = tokio::time::sleep(left) => {}
        }
    }
}

/// Whether a run is paused by a stop that all its requesters have withdrawn since this time: it goes on then.
///
/// # Errors
///
/// If the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
async fn was_taken_back(local: &Local, rest: &Rest, since: Timestamp) -> Result<bool, Failure> {
    if !matches!(rest.report.status, RunStatus::Paused { .. }) {
        return Ok(false);
    }
    let store = &*local.storage().store;
    let filter = Filter {
        run: Some(rest.report.run),
        states: vec![State::Cancelled],
        ..Filter::default()
    };
    let ended = listing::interrupts_in(store, &filter).await?;
    let was = ended.iter().any(|it| {
        let is_late = it.ended_at.is_some_and(|at| at >= since);
        it.family() == Family::Stop && is_late && !it.is_asked_for()
    });
    if !was {
        return Ok(false);
    }
    let row = find_run(local, &rest.report.run.to_string()).await?;
    Ok(!has_process(&row) && is_free(store, &row).await?)
}

/// Whether another process works on a run.
fn works_elsewhere(run: &Run) -> bool {
    has_process(run) && matches!(run.state, RunState::Running | RunState::Stopping)
}

/// Says what has stopped a run that goes on by itself. A question is no error then: no one has to answer it.
fn say_why(rest: &Rest) {
    if let Some(failure) = &rest.failure
        && failure.exit != Exit::Asking
    {
        tell(visible_line(&failure.to_string()));
    }
}

/// Prints the state of a run that another caller reached first, after all that was printed of it before.
///
/// # Errors
///
/// If the store cannot be read, the run has failed, or another process continues it.
///
/// # Cancel safety
///
/// If dropped, it may be printed in part.
pub(super) async fn told_otherwise(
    local: &Local,
    rest: Rest,
    performing: Performing<'_>,
) -> anyhow::Result<Exit> {
    let mut report = rest.report;
    let row = find_run(local, &report.run.to_string()).await?;
    if works_elsewhere(&row) {
        return Err(goes_on_elsewhere(report.run).into());
    }
    let store = &*local.storage().store;
    report.status = match end_of(store, &row).await? {
        Some(end) => {
            close(&mut report.interrupts, &end);
            end
        }
        None => RunStatus::Paused {
            reason: held_by(local, &row).await?,
        },
    };
    let rest = Rest::of(report, None, None, false);
    let Performing {
        talk,
        global,
        events,
        ..
    } = performing;
    let output_thread = TerminalOutput::open(talk.report(global, events), |_error| {})?;
    output_thread.output().observe(&RunOccurrence {
        run: row.id,
        sequence: 0,
        at: Timestamp::now(),
        replayed: false,
        event: rest.report.status.last_event(),
    });
    let finished = rest.finished(store, true).await;
    closed(move || output_thread.finish(finished)).await?;
    rest.told()
}

/// Interrupts that were open when last printed are closed in a run that has ended.
fn close(interrupts: &mut Vec<InterruptRecord>, end: &RunStatus) {
    if !matches!(end, RunStatus::Cancelled { .. }) {
        // The process that ended the run has reported what became of them.
        interrupts.retain(|record| !matches!(record.outcome, InterruptResult::Open));
    }
    for record in interrupts {
        if matches!(record.outcome, InterruptResult::Open) {
            record.outcome = InterruptResult::Stopped;
        }
    }
}

/// What keeps a run from going on by itself, in words.
async fn held_by(local: &Local, run: &Run) -> Result<String, Failure> {
    let filter = Filter {
        run: Some(run.id),
        states: State::ALL
            .into_iter()
            .filter(|state| state.is_live())
            .collect(),
        ..Filter::default()
    };
    let open = listing::interrupts_in(&*local.storage().store, &filter).await?;
    let asked = open
        .iter()
        .rev()
        .find(|interrupt| interrupt.family() == Family::Stop && !interrupt.is_raised_by_agent());
    Ok(match (asked, &run.reason) {
        (Some(stop), _) => stop.reason.clone(),
        (None, Some(reason)) if run.state == RunState::Paused => reason.clone(),
        (None, _) => "what it waited for was decided elsewhere".to_owned(),
    })
}
