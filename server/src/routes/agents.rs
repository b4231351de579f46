//! Agents: read, interrupted, steered.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{OriginalUri, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use interrupts::life::{Family, Scope, State as InterruptState};
use interrupts::store::{Filter, Page};
use routing_core::{InterruptType, NodeId, RunId, StopMode};
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::list::{RequestKey, listed};
use crate::access::{Reads, Requests};
use crate::acting::{StopOrder, Stopped, stop};
use crate::address::find_agent;
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::{Parameters, Segment, page};
use crate::problem::{Kind, Problem, of_store};
use crate::wire::{
    AgentPage, AgentView, InterruptView, ModeName, ScopeName, TypeName, activity_name,
};

/// How many rows one request looks at when it filters.
const MOST_ROWS: usize = 10_000;

/// Which agents.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentQuery {
    /// Only agents that do this.
    status: Option<String>,
    /// Only agents of this kind.
    r#type: Option<String>,
    /// Only agents of this run.
    run_id: Option<String>,
    /// Where a part before ended.
    cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// Agents in the order in which they came to be.
#[utoipa::path(get, path = "/v1/agents", params(AgentQuery), extensions(("x-right" = json!("read"))),
    responses((status = 200, body = AgentPage)))]
pub(crate) async fn list(
    State(app): State<App>,
    Reads(_caller): Reads,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<AgentQuery>,
) -> Result<Response, Problem> {
    let mut page = page(query.cursor.as_deref(), query.limit)?;
    let run = match &query.run_id {
        Some(run) => Some(app.run_named(run).await?.id),
        None => None,
    };
    let open = open_by_agent(&app, run).await?;
    let (mut agents, mut next_cursor, mut looked) = (Vec::new(), None, 0);
    'pages: loop {
        let rows = app.store().nodes(run, page).await;
        let rows = rows.map_err(|error| of_store(&error))?;
        let full = rows.len() == page.limit as usize;
        for (position, row) in rows {
            page.after = position;
            looked += 1;
            let status = query
                .status
                .as_deref()
                .is_none_or(|status| status == activity_name(row.activity));
            let kind = query
                .r#type
                .as_deref()
                .is_none_or(|kind| kind == row.kind.as_str());
            if status && kind {
                let key = (row.run, row.node.clone());
                let open = open.get(&key).cloned().unwrap_or_default();
                agents.push(AgentView::of(&row, open));
            }
            if agents.len() == page.limit as usize || looked >= MOST_ROWS {
                next_cursor = Some(position.to_string());
                break 'pages;
            }
        }
        if !full {
            break;
        }
    }
    let cursor = next_cursor.clone();
    let body = AgentPage {
        agents,
        next_cursor,
    };
    Ok(listed(&uri, cursor.as_deref(), body))
}

/// The open interrupts of each agent.
pub(super) async fn open_by_agent(
    app: &App,
    run: Option<RunId>,
) -> Result<BTreeMap<(RunId, NodeId), Vec<String>>, Problem> {
    let filter = Filter {
        run,
        node: None,
        states: InterruptState::ALL
            .into_iter()
            .filter(|state| state.is_live())
            .collect(),
    };
    let page = Page {
        after: 0,
        limit: 2_000,
    };
    let live = app.store().interrupts(&filter, page).await;
    let live = live.map_err(|error| of_store(&error))?;
    let mut open: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (_position, interrupt) in live {
        open.entry((interrupt.run, interrupt.node))
            .or_default()
            .push(interrupt.id.to_string());
    }
    Ok(open)
}

/// An agent, by its address `RUN/NODE` (with `%2F` for each slash), or by its node id where one live run has it.
#[utoipa::path(get, path = "/v1/agents/{agent_id}", params(("agent_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = AgentView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Reads(_caller): Reads,
    Segment(agent): Segment,
) -> Result<Json<AgentView>, Problem> {
    let found = find_agent(&app, &agent).await?;
    let open = open_by_agent(&app, Some(found.run.id)).await?;
    let key = (found.run.id, found.node.node.clone());
    let open = open.get(&key).cloned().unwrap_or_default();
    Ok(Json(AgentView::of(&found.node, open)))
}

/// An interrupt that shall be requested.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct InterruptBody {
    /// What it does; without it the run is paused.
    pub(super) r#type: TypeName,
    /// How to stop.
    pub(super) mode: ModeName,
    /// How far it reaches.
    pub(super) scope: ScopeName,
    /// Why, in words.
    pub(super) reason: String,
    /// Words beside the reason.
    pub(super) message: Option<String>,
    /// After how many milliseconds a graceful stop becomes immediate.
    #[schema(minimum = 1, maximum = 2147483647)]
    pub(super) deadline_ms: Option<u32>,
    /// Whatever shall be kept with it.
    #[schema(value_type = Option<Object>)]
    pub(super) metadata: Option<Value>,
}

/// Interrupts an agent. It is recorded when this returns, and has not taken hold yet. While one of the same kind
/// is under way, that one is returned, and is as hard as the hardest request.
#[utoipa::path(post, path = "/v1/agents/{agent_id}/interrupts", request_body = InterruptBody,
    params(("agent_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("request"))),
    responses((status = 202, body = InterruptView), (status = 200, body = InterruptView)))]
pub(crate) async fn interrupt(
    State(app): State<App>,
    Requests(caller): Requests,
    RequestKey(key): RequestKey,
    Segment(agent): Segment,
    StrictJson(body): StrictJson<InterruptBody>,
) -> Result<Response, Problem> {
    let found = find_agent(&app, &agent).await?;
    let interrupt_type = InterruptType::from(body.r#type);
    if Family::of(interrupt_type) == Family::Question {
        return Err(Problem::new(
            Kind::Shape,
            format!("{interrupt_type} asks a question"),
            "publish it as an event: `POST /v1/interrupt-requests`",
        ));
    }
    let order = StopOrder {
        interrupt_type,
        mode: StopMode::from(body.mode),
        scope: Scope::from(body.scope),
        reason: body.reason,
        message: body.message,
        limit_ms: body.deadline_ms.map(u64::from),
        metadata: body.metadata,
        key,
    };
    let stopped = stop(&app, &caller, &found, order).await?;
    Ok(stopped_response(&app, &stopped))
}

/// The response to a stop that was asked for.
pub(super) fn stopped_response(app: &App, stopped: &Stopped) -> Response {
    let interrupt = stopped.interrupt();
    let status = match stopped {
        Stopped::New(_) => StatusCode::ACCEPTED,
        Stopped::UnderWay(_) => StatusCode::OK,
    };
    let location = [(header::LOCATION, format!("/v1/interrupts/{}", interrupt.id))];
    let view = InterruptView::of(interrupt, app.now());
    (status, location, Json(view)).into_response()
}
