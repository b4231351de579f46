//! Changes of a plan that is on hold: proposed, suggested by a model, taken back, made again.

use std::sync::Arc;

use control::{Caller, Right};
use interrupts::Digest;
use interrupts::store::Run;
use planning::{PlanChangeRequest, PlanReading, StoredPlan, is_plan};
use uuid::Uuid;

use crate::app::App;
use crate::launcher::PlanOrder;
use crate::problem::{Problem, of_plan_order, of_plan_read, other_workflow};

/// A change that a caller wants.
#[derive(Debug, Clone)]
pub(crate) struct PlanChangeOrder {
    /// Which.
    pub(crate) wish: PlanChangeRequest,
    /// The version of the plan that the caller saw.
    pub(crate) if_version: Option<usize>,
    /// The key by which a repeated request is the same change.
    pub(crate) key: Option<String>,
}

/// The plan of a run with everything that is shown of it; `None` if none is saved yet.
pub(crate) async fn reading_of(app: &App, run: &Run) -> Result<Option<PlanReading>, Problem> {
    if !is_plan(run) {
        return Err(other_workflow(run.id));
    }
    let reading = PlanReading::of(app.store(), run).await;
    reading.map_err(of_plan_read)
}

/// Changes a plan that is on hold. Its run does not continue because of it: that takes a decision.
///
/// # Cancel safety
///
/// Safe: the change continues, and the same request sent again returns its result.
pub(crate) async fn change_plan(
    app: &App,
    caller: &Caller,
    run: &Run,
    order: PlanChangeOrder,
) -> Result<Arc<StoredPlan>, Problem> {
    Right::Decide.demand(caller)?;
    if !is_plan(run) {
        return Err(other_workflow(run.id));
    }
    let key = match order.key.as_deref() {
        Some(key) => caller.keyed(&format!("plan {}", run.id), key),
        None => Uuid::now_v7(),
    };
    let asked = Digest::of(format!("{:?} {:?}", order.wish, order.if_version).as_bytes());
    let wanted = PlanOrder {
        run: run.id,
        wish: order.wish,
        if_version: order.if_version,
        by: caller.actor.clone(),
    };
    let at = app.clone();
    let change = async move {
        let run = wanted.run;
        let changed = at.config.launcher.change_plan(wanted).await;
        at.feed.nudge();
        changed.map_err(|error| of_plan_order(run, error, at.now()))
    };
    let tasks = &app.outliving;
    app.changes.made(tasks, (key, asked), change).await
}
