//! Runs: started, read, stopped, continued.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{OriginalUri, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use interrupt_router::RunId;
use interrupts::life::{RunState, State as InterruptState};
use interrupts::store::{Filter, Page, Run};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use utoipa::{IntoParams, ToSchema};

use super::list::{RequestKey, listed, next_link};
use crate::access::{Directs, Reads};
use crate::acting::{self, KeyedResume};
use crate::app::App;
use crate::body::StrictJson;
use crate::events::{FeedEvent, position_text};
use crate::launcher::{LaunchError, LaunchOrder};
use crate::parameters::{Parameters, Segment, page, wrong};
use crate::problem::{Code, Problem, of_launch};
use crate::visible::visible;
use crate::wire::{
    AgentView, CancelBody, CheckpointPage, CheckpointView, InterruptView, ResumeBody, RunPage,
    RunStateName, RunView, TreeNode, tree_of,
};
use control::{Caller, CancelOrder, RequestStop, ResumeOrder, agents_of, first_agent};

/// Which runs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunQuery {
    /// Only runs in this state.
    #[param(value_type = Option<RunStateName>)]
    status: Option<String>,
    /// Where a part before ended.
    cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// Runs in the order of their creation.
#[utoipa::path(get, path = "/v1/runs", params(RunQuery), extensions(("x-right" = json!("read"))),
    responses((status = 200, body = RunPage)))]
pub(crate) async fn list(
    State(app): State<App>,
    Reads(caller): Reads,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<RunQuery>,
) -> Result<Response, Problem> {
    let states: Vec<RunState> = match &query.status {
        None => Vec::new(),
        Some(state) => vec![
            state
                .parse()
                .map_err(|error| wrong("status", format!("{error}")))?,
        ],
    };
    let page = page(query.cursor.as_deref(), query.limit)?;
    let rows = caller.reach.runs(app.store(), &states, page).await?;
    let next_cursor = (rows.len() == page.limit as usize)
        .then(|| rows.last().map(|(position, _)| position.to_string()))
        .flatten();
    let runs = rows.iter().map(|(_, run)| RunView::of(run, &app)).collect();
    let cursor = next_cursor.clone();
    Ok(listed(
        &uri,
        cursor.as_deref(),
        RunPage { runs, next_cursor },
    ))
}

/// The most characters of a client's name for a run.
const LONGEST_NAME: usize = 200;

/// A run that shall be started.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRunBody {
    /// What it shall reach, in words.
    goal: String,
    /// The client's own name for it, by which it can be found: one line of at most 200 characters.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    thread_id: Option<String>,
    /// Whatever else the workflow understands: a model, a workspace, limits.
    #[serde(default)]
    options: Map<String, Value>,
}

/// Whether a run can have this name, and be found by it.
pub(super) fn check_name(name: &str) -> Result<(), Problem> {
    let reason = if name.trim().is_empty() {
        "a name that says nothing finds no run; leave it out where there is none"
    } else if name.chars().count() > LONGEST_NAME {
        "a name has at most 200 characters"
    } else if visible(name) != name || name.contains(['\n', '\t']) {
        "a name is one line of characters that can be seen"
    } else if name.parse::<RunId>().is_ok() {
        "this is the form of the ids of runs; choose another name"
    } else {
        return Ok(());
    };
    Err(of_launch(&LaunchError::Order {
        field: "thread_id".to_owned(),
        reason: reason.to_owned(),
    }))
}

/// Starts a run. Sent again with its key, it is the same run.
#[utoipa::path(post, path = "/v1/runs", request_body = NewRunBody,
    params(("Idempotency-Key" = Option<String>, Header)), extensions(("x-right" = json!("direct"))),
    responses((status = 201, body = RunView), (status = 200, body = RunView)))]
pub(crate) async fn start(
    State(app): State<App>,
    Directs(caller): Directs,
    RequestKey(key): RequestKey,
    StrictJson(body): StrictJson<NewRunBody>,
) -> Result<Response, Problem> {
    if let Some(name) = &body.thread_id {
        check_name(name)?;
    }
    let id = acting::run_id(&caller, key.as_deref());
    let order = LaunchOrder {
        id,
        goal: body.goal,
        alias: body.thread_id,
        options: body.options,
        by: caller.actor,
    };
    let known = app.store().run(id).await?;
    let started = app.config.launcher.start(order).await;
    let id = started.map_err(|error| {
        if error != (LaunchError::Taken { run: id }) {
            return of_launch(&error);
        }
        Problem::new(
            Code::IdempotencyConflict,
            "the key was used for another run",
            "use a new `Idempotency-Key` for a new run",
        )
        .with("run_id", id.to_string())
    })?;
    app.feed.nudge();
    let run = app.run(id).await?;
    let status = match known {
        None => StatusCode::CREATED,
        // The process that started it may have died before it was under way.
        Some(known) if known.state == RunState::Created => {
            app.wake(&known);
            StatusCode::OK
        }
        Some(_) => StatusCode::OK,
    };
    let location = [(header::LOCATION, format!("/v1/runs/{id}"))];
    Ok((status, location, Json(RunView::of(&run, &app))).into_response())
}

/// A run, by its id or its client's name for it, with its open interrupts.
#[utoipa::path(get, path = "/v1/runs/{run_id}", params(("run_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = RunView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
) -> Result<Json<RunView>, Problem> {
    let run = caller.reach.run(app.store(), &run).await?;
    let mut view = RunView::of(&run, &app);
    view.open_interrupts = Some(open_of(&app, &caller, run.id).await?);
    Ok(Json(view))
}

/// The interrupts of a run that have not ended.
async fn open_of(app: &App, caller: &Caller, run: RunId) -> Result<Vec<String>, Problem> {
    let filter = Filter {
        run: Some(run),
        node: None,
        states: InterruptState::ALL
            .into_iter()
            .filter(|state| state.is_live())
            .collect(),
    };
    let page = Page {
        after: 0,
        limit: 500,
    };
    let open = caller.reach.interrupts(app.store(), &filter, page).await?;
    Ok(open.iter().map(|(_, one)| one.id.to_string()).collect())
}

/// Ends a run. It is told so when this returns, and has not stopped yet.
#[utoipa::path(post, path = "/v1/runs/{run_id}/cancel", request_body = CancelBody,
    params(("run_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("direct"))),
    responses((status = 202, body = InterruptView), (status = 200, body = InterruptView)))]
pub(crate) async fn cancel(
    State(app): State<App>,
    Directs(caller): Directs,
    RequestKey(key): RequestKey,
    Segment(run): Segment,
    StrictJson(order): StrictJson<CancelOrder>,
) -> Result<Response, Problem> {
    let run = caller.reach.run(app.store(), &run).await?;
    let stop = RequestStop::of(&first_agent(app.store(), run).await?, order.into(), key);
    super::agents::stopped_response(&app, &app.carry_out(&caller, stop).await?).await
}

/// The run that goes on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResumedView {
    /// Its id: another one where a checkpoint was named.
    run_id: String,
}

/// Goes on with a run that was paused, or from one of its checkpoints.
#[utoipa::path(post, path = "/v1/runs/{run_id}/resume", request_body = ResumeBody,
    params(("run_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("direct"))), responses((status = 202, body = ResumedView)))]
pub(crate) async fn resume(
    State(app): State<App>,
    Directs(caller): Directs,
    RequestKey(key): RequestKey,
    Segment(run): Segment,
    StrictJson(order): StrictJson<ResumeOrder>,
) -> Result<Response, Problem> {
    let run = caller.reach.run(app.store(), &run).await?;
    let resumed = acting::resume(&app, &caller, &run, KeyedResume { order, key }).await?;
    let location = [(header::LOCATION, format!("/v1/runs/{resumed}"))];
    let view = ResumedView {
        run_id: resumed.to_string(),
    };
    Ok((StatusCode::ACCEPTED, location, Json(view)).into_response())
}

/// A part of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartQuery {
    /// Where a part before ended.
    cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// The checkpoints of a run.
#[utoipa::path(get, path = "/v1/runs/{run_id}/checkpoints", params(("run_id" = String, Path), PartQuery),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = CheckpointPage)))]
pub(crate) async fn checkpoints(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<PartQuery>,
) -> Result<Response, Problem> {
    let run = caller.reach.run(app.store(), &run).await?;
    caller.reach.demand_whole_run()?;
    let page = page(query.cursor.as_deref(), query.limit)?;
    let rows = app.store().checkpoints(run.id, page).await?;
    let next_cursor = (rows.len() == page.limit as usize)
        .then(|| rows.last().map(|row| row.id.number.to_string()))
        .flatten();
    let checkpoints = rows.iter().map(CheckpointView::of).collect();
    let cursor = next_cursor.clone();
    let body = CheckpointPage {
        checkpoints,
        next_cursor,
    };
    Ok(listed(&uri, cursor.as_deref(), body))
}

/// The agents of a run, each below the one that started it.
#[utoipa::path(get, path = "/v1/runs/{run_id}/tree", params(("run_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = [TreeNode])))]
pub(crate) async fn tree(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
) -> Result<Json<Vec<TreeNode>>, Problem> {
    let run = caller.reach.run(app.store(), &run).await?;
    let agents = agents_in(&app, &caller, &run).await?;
    Ok(Json(tree_of(run.id, agents)))
}

/// The agents of a run with their open interrupts, within the caller's reach.
pub(crate) async fn agents_in(
    app: &App,
    caller: &Caller,
    run: &Run,
) -> Result<Vec<AgentView>, Problem> {
    let rows = agents_of(app.store(), run.id).await?;
    let open = super::agents::open_in(app, run.id).await?;
    let state = super::agents::state_for_agents(app, run);
    let catalogue = app.catalogue_of_run(run).await?;
    Ok(rows
        .iter()
        .filter(|row| caller.reach.covers(row.run, &row.node))
        .map(|row| AgentView::of(row, state, catalogue.as_deref(), &open, app.now()))
        .collect())
}

/// Which events of a run.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogQuery {
    /// Only events after this position.
    after_seq: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// A part of the events of a run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogPage {
    /// The events, as CloudEvents.
    #[schema(value_type = Vec<Object>)]
    events: Vec<Box<RawValue>>,
    /// The position to go on after.
    after_seq: String,
    /// Whether the run has told more after it already.
    more: bool,
}

/// The events of a run so far: as JSON, or as lines where the caller accepts `application/x-ndjson`. Where there are
/// more, `Link` says how to go on.
#[utoipa::path(get, path = "/v1/runs/{run_id}/events", params(("run_id" = String, Path), LogQuery),
    extensions(("x-right" = json!("read"))),
    responses((status = 200, content((LogPage = "application/json"), (String = "application/x-ndjson")))))]
pub(crate) async fn events(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    Parameters(query): Parameters<LogQuery>,
) -> Result<Response, Problem> {
    let run = caller.reach.run(app.store(), &run).await?;
    let page = page(query.after_seq.as_deref(), query.limit)?;
    let (mut told, more) = told_of(&app, run.id, page).await?;
    let position = told.last().map_or(page.after, |event| event.position);
    told.retain(|event| caller.reach.covers_part(event.run, event.node.as_ref()));
    let after_seq = position_text(position);
    let mut response = if super::history::wants_lines(&headers) {
        let lines: String = told.iter().flat_map(|event| [&*event.json, "\n"]).collect();
        let kind = [(header::CONTENT_TYPE, super::history::LINES)];
        (kind, Body::from(lines)).into_response()
    } else {
        let events = told
            .iter()
            .filter_map(|event| RawValue::from_string(event.json.clone()).ok());
        let page = LogPage {
            events: events.collect(),
            after_seq: after_seq.clone(),
            more,
        };
        Json(page).into_response()
    };
    // Lines have no other place to say that there are more.
    if more && let Some(link) = next_link(&uri, "after_seq", &after_seq) {
        response.headers_mut().insert(header::LINK, link);
    }
    Ok(response)
}

/// Events of a run after a position, and whether there are more of them.
async fn told_of(
    app: &App,
    run: RunId,
    page: Page,
) -> Result<(Vec<Arc<FeedEvent>>, bool), Problem> {
    let limit = page.limit.saturating_add(1);
    let mut told = app.feed.of_run(run, Page { limit, ..page }).await?;
    let more = told.len() > page.limit as usize;
    told.truncate(page.limit as usize);
    Ok((told, more))
}
