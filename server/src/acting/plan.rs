//! Changes of a plan's steps: checked against the current plan before they are decided.

use control::DecisionParts;
use interrupts::life::Interrupt;
use planning::{PlanPreview, PlanRevision, RevisionError, StoredPlan, is_plan};

use crate::app::App;
use crate::problem::{Code, Problem, misfit, of_invalid};

/// The plan of the interrupt's run, if it carries out one and has saved it.
pub(crate) async fn plan_of(
    app: &App,
    interrupt: &Interrupt,
) -> Result<Option<StoredPlan>, Problem> {
    let run = app.store().run(interrupt.run).await?;
    let Some(run) = run.filter(is_plan) else {
        return Ok(None);
    };
    match StoredPlan::read(app.store(), &run).await {
        Ok(plan) => Ok(plan),
        Err(error) => {
            // The interrupt can be decided without it.
            tracing::warn!(run = %run.id, %error, "the plan cannot be read");
            Ok(None)
        }
    }
}

/// Checks that the steps of a decision fit the current plan, and are those that were previewed if it says which.
pub(super) async fn check_plan(
    app: &App,
    interrupt: &Interrupt,
    parts: &DecisionParts,
) -> Result<(), Problem> {
    if !parts.revises_plan() {
        return Ok(());
    }
    let revision = parts.revision().map_err(|error| of_invalid(&error))?;
    let Some(plan) = plan_of(app, interrupt).await? else {
        return Err(misfit(
            "/payload/plan",
            "the run carries out no plan of steps",
        ));
    };
    preview(&plan, &revision).map(|_preview| ())
}

/// What a change would do to the current plan.
pub(crate) fn preview(plan: &StoredPlan, revision: &PlanRevision) -> Result<PlanPreview, Problem> {
    match revision.check(plan.state()) {
        Ok(Some(preview)) => Ok(preview),
        Ok(None) => Err(misfit("/payload/plan", &RevisionError::Empty.to_string())),
        Err(unfit @ RevisionError::Other { .. }) => Err(Problem::new(
            Code::StaleVersion,
            unfit.to_string(),
            "look at the plan as it is now, and preview the change again",
        )),
        Err(unfit) => Err(misfit("/payload/plan", &unfit.to_string())),
    }
}
