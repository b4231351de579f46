//! Checkpoints of workers: any state.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{EpochQuery, owned, protocol, refused, run_id};
use crate::access::Works;
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::{Parameters, Segment};
use crate::problem::{Code, Problem};
use crate::wire::CheckpointStateView;

/// A state that is to be kept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateBody {
    /// The state: anything.
    state: Value,
    /// Why it is saved.
    #[serde(default)]
    reason: Option<String>,
}

/// Keeps a state.
#[utoipa::path(post, path = "/v1/work/{run_id}/checkpoints", request_body = StateBody,
    params(("run_id" = String, Path), EpochQuery), extensions(("x-right" = json!("work"))),
    responses((status = 201, body = CheckpointStateView)))]
pub(crate) async fn save(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<StateBody>,
) -> Result<Response, Problem> {
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let reason = body
        .reason
        .unwrap_or_else(|| "its worker saved it".to_owned());
    let saved = owned.save(body.state, reason).await;
    let saved = saved.map_err(|error| refused(&app, &error))?;
    app.feed.nudge();
    let view = CheckpointStateView::from(saved);
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// The last state that was kept.
#[utoipa::path(get, path = "/v1/work/{run_id}/checkpoints/last", params(("run_id" = String, Path)),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = CheckpointStateView)))]
pub(crate) async fn last(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
) -> Result<Json<CheckpointStateView>, Problem> {
    let protocol = protocol(&app, &caller)?;
    let work = protocol.work(run_id(&run)?).await;
    let work = work.map_err(|error| refused(&app, &error))?;
    let last = protocol.last_checkpoint(&work.run).await;
    let last = last.map_err(|error| refused(&app, &error))?;
    let none = || {
        let detail = format!("{run} has no checkpoint");
        Problem::new(Code::NotFound, detail, "save one first")
    };
    Ok(Json(last.ok_or_else(none)?.into()))
}
