//! From what a plan refuses to the problem for the caller.

use control::{NotDone, no_plan, plan_not_changed};
use interrupt_router::RunId;
use interrupts::store::Run;
use jiff::Timestamp;
use planning::{PlanReadError, is_plan};

use super::{Code, Problem, of_launch, of_store};
use crate::launcher::PlanOrderError;

/// The problem for a run without a plan of steps.
pub(crate) fn other_workflow(run: RunId) -> Problem {
    Problem::new(
        Code::PlanRefused,
        format!("{run} carries out no plan of steps"),
        "start a run with the option `workflow`: `plan-execute`; it makes a plan",
    )
}

/// The problem for a missing plan.
pub(crate) fn absent_plan(run: &Run) -> Problem {
    let never = other_workflow(run.id);
    let yet = no_plan(run.id).into();
    let why: Problem = if is_plan(run) { yet } else { never };
    Problem::new(Code::PlanNotFound, why.detail(), why.hint())
}

/// The problem for a plan that cannot be read.
pub(crate) fn of_plan_read(error: PlanReadError) -> Problem {
    match error {
        PlanReadError::Store(error) => of_store(&error),
        unreadable @ (PlanReadError::OtherForm { .. } | PlanReadError::Unreadable { .. } | _) => {
            NotDone::Failed(unreadable.into()).into()
        }
    }
}

/// The problem for a change of a plan that was not made.
pub(crate) fn of_plan_order(run: RunId, error: PlanOrderError, now: Timestamp) -> Problem {
    match error {
        PlanOrderError::Launch(error) => of_launch(&error),
        PlanOrderError::Edit(error) => plan_not_changed(run, error, now).into(),
    }
}
