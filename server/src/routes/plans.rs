//! Plans of runs: read, and changed while they are on hold. A decision applies what is proposed.

use axum::Json;
use axum::extract::State;
use planning::{PlanChangeRequest, is_plan};
use serde::Deserialize;
use utoipa::ToSchema;

use super::list::RequestKey;
use crate::access::{Decides, Reads};
use crate::acting::{self, PlanChangeOrder, reading_of};
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::Segment;
use crate::problem::{Code, Problem, absent_plan};
use crate::wire::{ChangedPlanView, PlanView};

/// The plan of a run that carries out one: what is done, what is next, what is proposed, and its versions.
#[utoipa::path(get, path = "/v1/runs/{run_id}/plan", params(("run_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = PlanView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
) -> Result<Json<PlanView>, Problem> {
    let run = caller.reach.run(app.store(), &run).await?;
    caller.reach.demand_whole_run()?;
    if !is_plan(&run) {
        return Err(absent_plan(&run));
    }
    let reading = reading_of(&app, &run).await?;
    let reading = reading.ok_or_else(|| absent_plan(&run))?;
    Ok(Json(PlanView::of(&run, &reading)))
}

/// What is done to a plan.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeName {
    /// The change to the steps in `tasks` is kept to be looked at; nothing is applied.
    Propose,
    /// The run's model thinks of a change by the words in `request`, which is kept to be looked at.
    Suggest,
    /// The last change of the plan is taken back.
    Undo,
    /// The change that was taken back last is made again.
    Redo,
}

/// A change of a plan that stands still.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanChangeBody {
    /// What is done to it.
    change: ChangeName,
    /// The steps that would be left, with `propose`: at most 100.
    #[serde(default)]
    tasks: Option<Vec<String>>,
    /// What is wanted, in words, with `suggest`.
    #[serde(default)]
    request: Option<String>,
    /// Only where the plan still has this version.
    #[serde(default)]
    #[schema(minimum = 0)]
    if_version: Option<u32>,
}

impl PlanChangeBody {
    /// The change that it names, with what that change needs and nothing else.
    fn wish(self) -> Result<(PlanChangeRequest, Option<usize>), Problem> {
        let if_version = self.if_version.map(|version| version as usize);
        let wish = match (self.change, self.tasks, self.request) {
            (ChangeName::Propose, Some(tasks), None) => PlanChangeRequest::Propose { tasks },
            (ChangeName::Suggest, None, Some(request)) if !request.trim().is_empty() => {
                PlanChangeRequest::Suggest { request }
            }
            (ChangeName::Undo, None, None) => PlanChangeRequest::Undo,
            (ChangeName::Redo, None, None) => PlanChangeRequest::Redo,
            (
                ChangeName::Propose | ChangeName::Suggest | ChangeName::Undo | ChangeName::Redo,
                ..,
            ) => {
                return Err(Problem::new(
                    Code::Shape,
                    "$: `propose` comes with `tasks`, `suggest` with words in `request`, the others with neither",
                    "send what the change needs and nothing else",
                ));
            }
        };
        Ok((wish, if_version))
    }
}

/// Changes a plan that stands still for a person. Its run stays where it is: a change that is proposed is applied by
/// the decision `modify_plan` of the interrupt, with `plan` and `previewed` as they stand in `proposal`. A model may
/// think longer than an answer may take: the same request, sent again with its key, is told what came of it.
#[utoipa::path(post, path = "/v1/runs/{run_id}/plan/changes", request_body = PlanChangeBody,
    params(("run_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("decide"))), responses((status = 200, body = ChangedPlanView)))]
pub(crate) async fn change(
    State(app): State<App>,
    Decides(caller): Decides,
    RequestKey(key): RequestKey,
    Segment(run): Segment,
    StrictJson(body): StrictJson<PlanChangeBody>,
) -> Result<Json<ChangedPlanView>, Problem> {
    let run = caller.reach.run(app.store(), &run).await?;
    let (wish, if_version) = body.wish()?;
    let order = PlanChangeOrder {
        wish,
        if_version,
        key,
    };
    let changed = acting::change_plan(&app, &caller, &run, order).await?;
    Ok(Json(ChangedPlanView::of(&run, &changed)))
}
