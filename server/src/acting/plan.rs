//! The plan that an interrupt is about.

use interrupts::life::Interrupt;
use planning::{StoredPlan, is_plan};

use crate::app::App;
use crate::problem::Problem;

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
