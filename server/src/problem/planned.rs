//! From what a plan refuses to the problem for the caller.

use std::error::Error;

use interrupts::store::{ChangeError, Run};
use jiff::Timestamp;
use planning::{PlanEditError, PlanReadError, is_plan};
use routing_core::RunId;

use super::{Kind, Problem, of_change, of_launch, of_store};
use crate::launcher::PlanOrderError;

/// The problem for a run without a plan of steps.
pub(crate) fn other_workflow(run: RunId) -> Problem {
    Problem::new(
        Kind::PlanRefused,
        format!("{run} carries out no plan of steps"),
        "start a run with the option `workflow`: `plan-execute`; it makes a plan",
    )
}

/// The problem for a run whose plan is not made yet.
pub(crate) fn no_plan(run: RunId) -> Problem {
    Problem::new(
        Kind::NoPlan,
        format!("{run} has no plan yet"),
        format!("its planner makes it first; `irq ps {run}` shows how far it is"),
    )
}

/// The problem for a missing plan.
pub(crate) fn absent_plan(run: &Run) -> Problem {
    let never = other_workflow(run.id);
    let yet = no_plan(run.id);
    let why = if is_plan(run) { yet } else { never };
    Problem::new(Kind::PlanNotFound, why.detail(), why.hint())
}

/// The problem for a plan that cannot be read.
pub(crate) fn of_plan_read(error: &PlanReadError) -> Problem {
    match error {
        PlanReadError::Store(error) => of_store(error),
        PlanReadError::OtherForm { .. } | PlanReadError::Unreadable { .. } | _ => internal(error),
    }
}

fn internal(error: &(dyn Error + 'static)) -> Problem {
    tracing::error!(error, "a plan cannot be read or changed");
    Problem::new(
        Kind::Internal,
        "the plan cannot be read or changed here",
        "the log of the server says why; `irq doctor` says what is wrong",
    )
}

/// The problem for a change of a plan that was not made.
pub(crate) fn of_plan_order(run: RunId, error: &PlanOrderError, now: Timestamp) -> Problem {
    match error {
        PlanOrderError::Launch(error) => of_launch(error),
        PlanOrderError::Edit(error) => of_edit(run, error, now),
    }
}

fn of_edit(run: RunId, error: &PlanEditError, now: Timestamp) -> Problem {
    let said = error.to_string();
    let look = format!("nothing was changed; `irq plan {run}` shows the plan");
    match error {
        PlanEditError::NoPlan { .. } => no_plan(run),
        PlanEditError::NotHeld { state, .. } => {
            let hint = if state.is_final() {
                format!("`irq fork {run}` begins another run from one of its checkpoints")
            } else {
                format!("`irq interrupt {run} --wait` lets it stand still before its next step")
            };
            Problem::new(Kind::NotHeld, said, hint)
        }
        PlanEditError::Owned { .. } => Problem::new(
            Kind::InHand,
            said,
            format!("`irq interrupt {run} --wait` stops it; then its plan can be changed"),
        ),
        PlanEditError::Unclaimed {
            source: source @ (ChangeError::Refused(_) | ChangeError::Unknown { .. }),
            ..
        } => of_change(source, now),
        PlanEditError::OtherVersion { current, .. } => {
            Problem::new(Kind::StaleVersion, said, look).with("current_version", *current)
        }
        PlanEditError::NotCarriedOut { .. } => Problem::new(
            Kind::NotHeld,
            said,
            format!("`irq resume {run}` carries it out; stop it again then and change its plan"),
        ),
        PlanEditError::Refused(_) => Problem::new(Kind::PlanRefused, said, look),
        PlanEditError::NoSuggestion { .. } => Problem::new(
            Kind::NoSuggestion,
            said,
            format!("say it in other words, or write the steps: irq plan {run} --preview @FILE"),
        ),
        PlanEditError::Unreadable(error) => of_plan_read(error),
        PlanEditError::Store(error) => of_store(error),
        PlanEditError::NoRun { .. } => {
            Problem::new(Kind::RunNotFound, said, "`irq ps --all` lists the runs")
        }
        PlanEditError::Unclaimed { .. } | PlanEditError::Unrecorded(_) | _ => internal(error),
    }
}
