//! What has come for a run.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use workers::News;

use super::{EpochQuery, WaitLimit, node_id, owned, refused, run_id, wait_of, work_key};
use crate::access::Works;
use crate::app::App;
use crate::body::StrictJson;
use crate::feed::Concern;
use crate::parameters::{Parameters, Segment, Segments};
use crate::problem::{Code, Problem};
use crate::wire::{ReadingView, SignalsView};

/// The most messages that are marked as read at once.
const MOST_READ: usize = 1_000;

/// How news is waited for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalsQuery {
    /// The epoch in which you have the run.
    epoch: u64,
    /// How long to wait for news, in milliseconds.
    #[param(minimum = 0, maximum = 30000)]
    wait_ms: Option<u32>,
    /// The cursor of the answer before: with it, only what has come since is news.
    after: Option<u64>,
}

/// Says at once what has come for the run; with `wait_ms`, it waits where nothing has.
#[utoipa::path(get, path = "/v1/work/{run_id}/signals", params(("run_id" = String, Path), SignalsQuery),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = SignalsView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
    Parameters(query): Parameters<SignalsQuery>,
) -> Result<Json<SignalsView>, Problem> {
    let concern = Concern::Signals(run_id(&run)?);
    let mut patience = WaitLimit::begin(&app, concern, wait_of(query.wait_ms)?);
    let mut is_over = query.wait_ms.is_none_or(|wait| wait == 0);
    let mut after = query.after;
    loop {
        let owned = owned(&app, &caller, &run, query.epoch).await?;
        let news = match after {
            Some(cursor) => Some(owned.news(cursor).await),
            None => None,
        };
        let news = news.transpose().map_err(|error| refused(&app, &error))?;
        if is_over || news.as_ref().is_none_or(News::is_there) {
            // When the wait is over, all questions are listed, also those that the worker was told of before.
            let since = news.as_ref().filter(|_| !is_over);
            let signals = owned.signals(since).await;
            let signals = signals.map_err(|error| refused(&app, &error))?;
            let is_for_the_run = news.as_ref().is_some_and(|news| news.is_for_the_run);
            if is_over || is_for_the_run || signals.are_there() {
                return Ok(Json(SignalsView::of(signals)));
            }
            after = Some(signals.cursor);
        } else {
            after = news.map(|news| news.through);
        }
        is_over = !patience.more().await;
    }
}

/// Which messages were read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadBody {
    /// Their places among all messages.
    positions: Vec<u64>,
}

/// Says that agents have read messages.
#[utoipa::path(post, path = "/v1/work/{run_id}/messages/read", request_body = ReadBody,
    params(("run_id" = String, Path), EpochQuery), extensions(("x-right" = json!("work"))),
    responses((status = 204)))]
pub(crate) async fn messages_read(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<ReadBody>,
) -> Result<StatusCode, Problem> {
    if body.positions.len() > MOST_READ {
        let detail = format!("$.positions: {MOST_READ} at once are possible");
        return Err(Problem::new(Code::Shape, detail, "say it in parts"));
    }
    if body.positions.iter().any(|it| *it > i64::MAX as u64) {
        let detail = "$.positions: no message has such a place";
        return Err(Problem::new(
            Code::Shape,
            detail,
            "give the places that you were told",
        ));
    }
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let read = owned.read_messages(&body.positions).await;
    read.map_err(|error| refused(&app, &error))?;
    app.feed.nudge();
    Ok(StatusCode::NO_CONTENT)
}

/// Who reads.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadingBody {
    /// The agent.
    #[schema(min_length = 1, max_length = 200)]
    agent_id: String,
}

/// Reads the messages that wait for an agent, and keeps them under the key, in one transaction. The same key again gives the
/// same messages; what has come since waits for another key.
#[utoipa::path(put, path = "/v1/work/{run_id}/readings/{key}", request_body = ReadingBody,
    params(("run_id" = String, Path), ("key" = String, Path), EpochQuery),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = ReadingView)))]
pub(crate) async fn read_under(
    State(app): State<App>,
    Works(caller): Works,
    Segments(run, key): Segments,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<ReadingBody>,
) -> Result<Json<ReadingView>, Problem> {
    let key = work_key(&key)?;
    let node = node_id("$.agent_id", &body.agent_id)?;
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let read = owned.read_under(&key, &node).await;
    let messages = read.map_err(|error| refused(&app, &error))?;
    app.feed.nudge();
    Ok(Json(ReadingView::of(messages)))
}
