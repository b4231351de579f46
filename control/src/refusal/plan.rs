//! What a plan refuses.

use interrupt_router::RunId;
use interrupts::store::ChangeError;
use jiff::Timestamp;
use planning::{PlanEditError, PlanReadError};

use super::{Code, NotDone, Refusal, not_changed};

/// The plan of a run is not made yet.
pub fn no_plan(run: RunId) -> Refusal {
    Refusal::new(
        Code::NoPlan,
        format!("{run} has no plan yet"),
        format!("its planner makes it first; `irq ps {run}` shows how far it is"),
    )
}

/// Why a plan was not read.
pub fn plan_not_read(error: PlanReadError) -> NotDone {
    match error {
        PlanReadError::Store(error) => NotDone::Store(error),
        unreadable => NotDone::Failed(unreadable.into()),
    }
}

/// Why a plan was not changed.
pub fn plan_not_changed(run: RunId, error: PlanEditError, now: Timestamp) -> NotDone {
    let error = match error {
        PlanEditError::Unclaimed {
            interrupt,
            source: source @ (ChangeError::Refused(_) | ChangeError::Unknown { .. }),
        } => return not_changed(Some(interrupt), source, now),
        PlanEditError::Store(error) | PlanEditError::Unreadable(PlanReadError::Store(error)) => {
            return NotDone::Store(error);
        }
        other => other,
    };
    let look = format!("nothing was changed; `irq plan {run}` shows the plan");
    let (code, hint) = match &error {
        PlanEditError::NoPlan { .. } => return no_plan(run).into(),
        PlanEditError::NotHeld { state, .. } if state.is_final() => (
            Code::NotHeld,
            format!("`irq fork {run}` begins another run from one of its checkpoints"),
        ),
        PlanEditError::NotHeld { .. } => (
            Code::NotHeld,
            format!("`irq interrupt {run} --wait` pauses it before its next step"),
        ),
        PlanEditError::Owned { .. } => (
            Code::InHand,
            format!("`irq interrupt {run} --wait` stops it; then its plan can be changed"),
        ),
        PlanEditError::OtherVersion { current, .. } => {
            let refusal = Refusal::new(Code::StaleVersion, error.to_string(), look);
            return refusal.with("current_version", *current).into();
        }
        PlanEditError::NotCarriedOut { .. } => (
            Code::NotHeld,
            format!(
                "`irq resume {run}` carries it out; `irq interrupt {run} --wait` pauses it again"
            ),
        ),
        PlanEditError::Refused(_) => (Code::PlanRefused, look),
        PlanEditError::NoSuggestion { .. } => (
            Code::NoSuggestion,
            format!("say it in other words, or write the steps: irq plan {run} --preview @FILE"),
        ),
        PlanEditError::NoRun { .. } => (
            Code::RunNotFound,
            "`irq ps --all` lists the runs".to_owned(),
        ),
        _ => return NotDone::Failed(error.into()),
    };
    Refusal::new(code, error.to_string(), hint).into()
}
