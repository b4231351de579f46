//! Agents: read, interrupted, steered.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use axum::Json;
use axum::extract::{OriginalUri, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use control::{RequestStop, StopOrder};
use interrupt_router::RunId;
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{Interrupt, RunState, State as InterruptState};
use interrupts::store::{Admitted, Filter, NodeActivity, NodeRow, Page, Run};
use serde::Deserialize;
use utoipa::IntoParams;

use super::list::{RequestKey, listed};
use crate::access::{Reads, Requests};
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::{Parameters, Segment, one_of, page};
use crate::problem::Problem;
use crate::wire::{ACTIVITIES, ActivityName, AgentPage, AgentView, InterruptBody, InterruptView};

/// How many rows one request reads when it filters.
const MOST_ROWS: usize = 10_000;

/// The first open interrupts of a run; most have fewer.
const FIRST_PAGE: Page = Page {
    after: 0,
    limit: 500,
};

/// Which agents.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentQuery {
    /// Only agents that do this.
    #[param(value_type = Option<ActivityName>)]
    pub(crate) status: Option<String>,
    /// Only agents of this kind.
    pub(crate) r#type: Option<String>,
    /// Only agents of this run.
    pub(crate) run_id: Option<String>,
    /// Where a part before ended.
    pub(crate) cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    pub(crate) limit: Option<u32>,
}

/// Agents in the order in which they came to be.
#[utoipa::path(get, path = "/v1/agents", params(AgentQuery), extensions(("x-right" = json!("read"))),
    responses((status = 200, body = AgentPage)))]
pub(crate) async fn list(
    State(app): State<App>,
    Reads(caller): Reads,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<AgentQuery>,
) -> Result<Response, Problem> {
    let run = match &query.run_id {
        Some(run) => Some(caller.reach.run(app.store(), run).await?.id),
        None => caller.reach.bound_run(),
    };
    let runs = run.as_ref().map(std::slice::from_ref);
    let reached = |row: &NodeRow| caller.reach.covers(row.run, &row.node);
    let (agents, next_cursor) = find(&app, &query, runs, reached).await?;
    let cursor = next_cursor.clone();
    let body = AgentPage {
        agents,
        next_cursor,
    };
    Ok(listed(&uri, cursor.as_deref(), body))
}

/// The agents that match a query and a further condition, of these runs or of all, and where the next part begins. The
/// run that the query names is not checked: the caller of this function has looked it up.
pub(crate) async fn find(
    app: &App,
    query: &AgentQuery,
    runs: Option<&[RunId]>,
    is_wanted: impl Fn(&NodeRow) -> bool + Send,
) -> Result<(Vec<AgentView>, Option<String>), Problem> {
    let mut page = page(query.cursor.as_deref(), query.limit)?;
    one_of(
        "status",
        query.status.as_deref(),
        &ACTIVITIES.map(NodeActivity::name),
    )?;
    let mut about = HashMap::new();
    let (mut agents, mut looked) = (Vec::new(), 0);
    loop {
        let rows = part_of(app, runs, page).await?;
        let full = rows.len() == page.limit as usize;
        for (position, row) in rows {
            page.after = position;
            looked += 1;
            let kind = query
                .r#type
                .as_deref()
                .is_none_or(|kind| kind == row.kind.as_str());
            if kind && is_wanted(&row) {
                let (state, catalogue, open) = match about.entry(row.run) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(unknown) => unknown.insert(about_run(app, row.run).await?),
                };
                let agent = AgentView::of(&row, *state, catalogue.as_deref(), open, app.now());
                let status = query.status.as_ref();
                if status.is_none_or(|status| *status == agent.status) {
                    agents.push(agent);
                }
            }
            if agents.len() == page.limit as usize || looked >= MOST_ROWS {
                return Ok((agents, Some(position.to_string())));
            }
        }
        if !full {
            return Ok((agents, None));
        }
    }
}

/// A part of the agents of these runs or of all, in the order in which they came to be.
async fn part_of(
    app: &App,
    runs: Option<&[RunId]>,
    page: Page,
) -> Result<Vec<(u64, NodeRow)>, Problem> {
    let runs = match runs {
        Some(runs) => runs.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let mut rows = Vec::new();
    for run in runs {
        let part = app.store().nodes(run, page).await;
        rows.extend(part?);
    }
    rows.sort_by_key(|(position, _row)| *position);
    rows.truncate(page.limit as usize);
    Ok(rows)
}

/// The state of a run for its agents now.
pub(super) fn state_for_agents(app: &App, run: &Run) -> RunState {
    run.state_for_nodes(app.is_executed(run))
}

/// The state of a run for its agents, its workflow's catalogue, and its open interrupts.
type AboutRun = (RunState, Option<SharedCatalogue>, Vec<Interrupt>);

async fn about_run(app: &App, run: RunId) -> Result<AboutRun, Problem> {
    let found = app.store().run(run).await;
    let (state, catalogue) = match found? {
        Some(run) => (
            state_for_agents(app, &run),
            app.catalogue_of_run(&run).await?,
        ),
        // Its rows may have been purged since its agents were read.
        None => (RunState::Cancelled, None),
    };
    Ok((state, catalogue, open_in(app, run).await?))
}

/// The open interrupts of a run.
pub(super) async fn open_in(app: &App, run: RunId) -> Result<Vec<Interrupt>, Problem> {
    let filter = Filter {
        run: Some(run),
        node: None,
        states: InterruptState::ALL
            .into_iter()
            .filter(|state| state.is_live())
            .collect(),
    };
    let (mut open, mut page) = (Vec::new(), FIRST_PAGE);
    loop {
        let part = app.store().interrupts(&filter, page).await?;
        let full = part.len() == page.limit as usize;
        for (position, interrupt) in part {
            page.after = position;
            open.push(interrupt);
        }
        if !full {
            return Ok(open);
        }
    }
}

/// An agent, by its address `RUN/NODE` (with `%2F` for each slash), or by its node id where one live run has it.
#[utoipa::path(get, path = "/v1/agents/{agent_id}", params(("agent_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = AgentView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(agent): Segment,
) -> Result<Json<AgentView>, Problem> {
    let found = caller.reach.agent(app.store(), &agent).await?;
    let open = open_in(&app, found.run.id).await?;
    let state = state_for_agents(&app, &found.run);
    let catalogue = app.catalogue_of_run(&found.run).await?;
    let catalogue = catalogue.as_deref();
    Ok(Json(AgentView::of(
        &found.node,
        state,
        catalogue,
        &open,
        app.now(),
    )))
}

/// Interrupts an agent. It is recorded when this returns; a new one has not taken hold yet. While one of the same kind
/// is under way, that one is returned, with one more of its `askings`, and is as hard as the hardest request, also where several are made at once. A
/// pause is under way until it is resumed, all else until it was carried out.
#[utoipa::path(post, path = "/v1/agents/{agent_id}/interrupts", request_body = InterruptBody,
    params(("agent_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("request"))),
    responses((status = 202, body = InterruptView), (status = 200, body = InterruptView)))]
pub(crate) async fn interrupt(
    State(app): State<App>,
    Requests(caller): Requests,
    RequestKey(key): RequestKey,
    Segment(agent): Segment,
    StrictJson(order): StrictJson<StopOrder>,
) -> Result<Response, Problem> {
    let agent = caller.reach.agent(app.store(), &agent).await?;
    let stop = RequestStop::of(&agent, order, key);
    stopped_response(&app, &app.carry_out(&caller, stop).await?).await
}

/// The response to a stop that was requested.
pub(super) async fn stopped_response(app: &App, stopped: &Admitted) -> Result<Response, Problem> {
    let (interrupt, status) = match stopped {
        Admitted::New(interrupt) => (interrupt, StatusCode::ACCEPTED),
        Admitted::Known(interrupt) => (interrupt, StatusCode::OK),
    };
    let location = [(header::LOCATION, format!("/v1/interrupts/{}", interrupt.id))];
    let view = app.shown(interrupt).await?;
    Ok((status, location, Json(view)).into_response())
}
