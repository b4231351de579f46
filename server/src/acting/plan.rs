//! Changes of a plan's steps: checked against the plan as it stands before they are decided.

use interrupts::life::{Interrupt, Verdict};
use planning::{PlanPreview, PlanRevision, StoredPlan, Unfit, is_plan};
use serde::Deserialize as _;
use serde_json::Value;

use super::decide::DecisionOrder;
use crate::app::App;
use crate::problem::{Kind, Problem, of_store};

/// The plan of the interrupt's run, where it carries out one and has saved it.
pub(crate) async fn plan_of(
    app: &App,
    interrupt: &Interrupt,
) -> Result<Option<StoredPlan>, Problem> {
    let run = app.store().run(interrupt.run).await;
    let run = run.map_err(|error| of_store(&error))?;
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

/// Whether an order changes the steps of a plan.
pub(super) fn revises(order: &DecisionOrder) -> bool {
    let names_steps = |payload: &Value| payload.get("plan").is_some_and(|plan| !plan.is_null());
    order.verdict == Verdict::ModifyPlan && order.payload.as_ref().is_some_and(names_steps)
}

/// The steps of an order fit the plan as it stands, and are those that were previewed where it says which.
pub(super) async fn check_plan(
    app: &App,
    interrupt: &Interrupt,
    order: &DecisionOrder,
) -> Result<(), Problem> {
    if !revises(order) {
        return Ok(());
    }
    let revision = revision_of(order)?;
    let Some(plan) = plan_of(app, interrupt).await? else {
        return Err(misfit(
            "/payload/plan",
            "the run carries out no plan of steps",
        ));
    };
    preview(&plan, &revision).map(|_preview| ())
}

/// What a change would do to the plan as it stands.
pub(crate) fn preview(plan: &StoredPlan, revision: &PlanRevision) -> Result<PlanPreview, Problem> {
    match revision.check(plan.state()) {
        Ok(Some(preview)) => Ok(preview),
        Ok(None) => Err(misfit("/payload/plan", &Unfit::Empty.to_string())),
        Err(unfit @ Unfit::Other { .. }) => Err(Problem::new(
            Kind::StaleVersion,
            unfit.to_string(),
            "look at the plan as it is now, and preview the change again",
        )),
        Err(unfit) => Err(misfit("/payload/plan", &unfit.to_string())),
    }
}

/// The change of a plan that an order carries.
pub(super) fn revision_of(order: &DecisionOrder) -> Result<PlanRevision, Problem> {
    let payload = order.payload.as_ref().unwrap_or(&Value::Null);
    let revision = PlanRevision::deserialize(payload);
    let mut revision = revision.map_err(|error| misfit("/payload", &error.to_string()))?;
    if let Some(message) = &order.message {
        if revision.input.is_some() {
            return Err(misfit("/message", "the payload has an `input` already"));
        }
        revision.input = Some(message.clone());
    }
    Ok(revision)
}

fn misfit(pointer: &str, message: &str) -> Problem {
    super::answer::misfit(pointer, message)
}
