//! The end of a run: recorded first, then reported.

use interrupt_router::{StopMode, StopReason, StopScope};
use interrupts::life::{Evidence, RunState};
use interrupts::store::CheckpointId;

use super::failure::RunError;
use super::live::LiveRun;
use super::report::RunStatus;
use super::settling::RUN_HAS_ENDED;
use crate::durable::control::{RunStopOutcome, Trouble};

/// How the work of a run came to its end, for now or for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// It is done.
    Completed(String),
    /// An agent's STOP ended it, or it was given up.
    Stopped(String),
    /// It was stopped from outside, and can go on.
    Interrupted(StopReason),
    /// A question waits for an answer that cannot come now.
    Waiting,
}

/// Records how the run ended, and reports it. If recording fails, that is what is reported. A run that had come to rest
/// and that a stop cancels is given up before its end is recorded.
pub(super) async fn conclude(
    engine: &LiveRun,
    end: Result<RunEnd, RunError>,
    scope: &StopScope,
    give_up: impl AsyncFnOnce(String) -> Result<(), RunError>,
) -> RunStatus {
    let trouble = match &end {
        Err(error) if error.is_resumable() => Some(error.trouble()),
        Ok(_) | Err(_) => None,
    };
    if let Ok(RunEnd::Interrupted(_)) | Err(_) = &end {
        let reason = "its run was stopped before that was carried out";
        if let Err(error) = engine.note_decided(None, reason).await {
            // The store is in trouble, as what is recorded next will say.
            tracing::warn!(%error, "what was decided by now is not known");
        }
    }
    let status = status(engine, end);
    let recorded = match &status {
        RunOutcome::Unrecorded { .. } => Ok(RunStopOutcome::Unasked),
        RunOutcome::As(status) => record(engine, status, trouble.as_ref(), scope, give_up).await,
    };
    match (recorded, status) {
        // A stop reached the run while it stopped to ask.
        (Ok(RunStopOutcome::Paused), RunOutcome::As(RunStatus::Waiting { .. })) => {
            RunStatus::Paused {
                reason: stop_reason(scope),
            }
        }
        (Ok(RunStopOutcome::Cancelled), RunOutcome::As(RunStatus::Waiting { .. })) => {
            RunStatus::Cancelled {
                reason: stop_reason(scope),
                from_outside: true,
            }
        }
        (_, RunOutcome::Unrecorded { status, reason }) => {
            let record = &engine.journal.record;
            let is_lost = engine.control().is_some_and(|control| control.is_lost());
            // If the run is lost, another process goes on with it.
            if !is_lost {
                // Nothing is lost if this fails too: the run is left as it was.
                let _best_effort = record.become_state(RunState::Paused, Some(reason)).await;
                let _best_effort = record.release().await;
            }
            status
        }
        (Err(error), RunOutcome::As(_)) => failed(&error),
        (Ok(RunStopOutcome::Cancelled), RunOutcome::As(RunStatus::Paused { reason })) => {
            RunStatus::Cancelled {
                reason,
                from_outside: true,
            }
        }
        (
            Ok(RunStopOutcome::Cancelled),
            RunOutcome::As(RunStatus::Failed {
                error,
                resumable: true,
                ..
            }),
        ) => RunStatus::Cancelled {
            reason: error,
            from_outside: true,
        },
        (Ok(_), RunOutcome::As(status)) => status,
    }
}

/// Why the run was told to stop.
fn stop_reason(scope: &StopScope) -> String {
    let reason = scope.reason().map(|reason| reason.message);
    reason.unwrap_or_else(|| "an agent of it was told to stop".to_owned())
}

/// How the run ended, and whether that can be recorded.
enum RunOutcome {
    As(RunStatus),
    Unrecorded { status: RunStatus, reason: String },
}

fn status(engine: &LiveRun, end: Result<RunEnd, RunError>) -> RunOutcome {
    RunOutcome::As(match end {
        Ok(RunEnd::Completed(summary)) => RunStatus::Completed { summary },
        Ok(RunEnd::Stopped(reason)) => RunStatus::Cancelled {
            reason,
            from_outside: false,
        },
        Ok(RunEnd::Interrupted(reason)) => RunStatus::Paused {
            reason: reason.message,
        },
        Ok(RunEnd::Waiting) => RunStatus::Waiting {
            questions: engine.open_interrupts.questions(),
            interrupts: engine.open_interrupts.open(),
        },
        Err(error) if error.is_of_the_store() => {
            return RunOutcome::Unrecorded {
                status: failed(&error),
                reason: error.stands_because(),
            };
        }
        Err(error) => failed(&error),
    })
}

/// Records the end: the nodes, a checkpoint, the state of the run; last of all the run is given up.
async fn record(
    engine: &LiveRun,
    status: &RunStatus,
    trouble: Option<&Trouble>,
    scope: &StopScope,
    give_up: impl AsyncFnOnce(String) -> Result<(), RunError>,
) -> Result<RunStopOutcome, RunError> {
    let record = &engine.journal.record;
    engine.keep_nodes().await?;
    let (state, reason) = state_of(status);
    let result = match status {
        RunStatus::Completed { summary } => Some(summary.clone()),
        RunStatus::Waiting { .. }
        | RunStatus::Paused { .. }
        | RunStatus::Cancelled { .. }
        | RunStatus::Failed { .. } => None,
    };
    let checkpoint = engine.checkpoint_with(reason, result).await?;
    let stopped = answer_stop(engine, status, trouble, scope, checkpoint).await;
    let state = match stopped {
        RunStopOutcome::Cancelled => RunState::Cancelled,
        RunStopOutcome::Paused => RunState::Paused,
        // It goes on elsewhere as it is, and waits there for the same answer.
        RunStopOutcome::Left if state == RunState::Paused => {
            record.release().await?;
            return Ok(stopped);
        }
        RunStopOutcome::Left | RunStopOutcome::Unasked => state,
    };
    if stopped == RunStopOutcome::Cancelled {
        let is_told = matches!(status, RunStatus::Waiting { .. });
        give_up(if is_told {
            stop_reason(scope)
        } else {
            reason.to_owned()
        })
        .await?;
    }
    if state.is_final() {
        // Effects that a dead process had begun, and that no process continues.
        engine.leave_out(None, RUN_HAS_ENDED).await?;
        if let Some(control) = engine.control() {
            control.concludes().await;
        }
    }
    record.become_state(state, Some(reason.to_owned())).await?;
    if !state.is_final() {
        record.release().await?;
    }
    Ok(stopped)
}

/// Answers the stop that ended the run: with the evidence that it stopped, or with what prevented that.
async fn answer_stop(
    engine: &LiveRun,
    status: &RunStatus,
    trouble: Option<&Trouble>,
    scope: &StopScope,
    checkpoint: Option<CheckpointId>,
) -> RunStopOutcome {
    let Some(control) = engine.control() else {
        return RunStopOutcome::Unasked;
    };
    if let Some(trouble) = trouble {
        return control.in_trouble(trouble, checkpoint).await;
    }
    if !matches!(status, RunStatus::Paused { .. } | RunStatus::Waiting { .. }) {
        return RunStopOutcome::Unasked;
    }
    let is_immediate = scope
        .reason()
        .is_some_and(|reason| reason.mode == StopMode::Immediate);
    let evidence = if is_immediate {
        Evidence::Cancelled
    } else {
        Evidence::Boundary
    };
    control.stopped(checkpoint, evidence).await
}

/// The state that a run ends in, and why.
fn state_of(status: &RunStatus) -> (RunState, &str) {
    match status {
        RunStatus::Completed { .. } => (RunState::Completed, "its work is done"),
        RunStatus::Waiting { .. } => (RunState::Waiting, "it waits for an answer"),
        RunStatus::Paused { reason } => (RunState::Paused, reason),
        RunStatus::Cancelled { reason, .. } => (RunState::Cancelled, reason),
        RunStatus::Failed {
            error,
            resumable: true,
            ..
        } => (RunState::Paused, error),
        RunStatus::Failed { error, .. } => (RunState::Failed, error),
    }
}

fn failed(error: &RunError) -> RunStatus {
    RunStatus::Failed {
        error: error.chain(),
        hint: error.hint(),
        limit_hit: matches!(error, RunError::StepLimit(_)),
        resumable: error.is_resumable(),
    }
}
