//! Records: whole rows of the store, for programs that show them themselves.
//!
//! The views of the other resources contain what callers need, under stable names. A record is the row itself, in the
//! form that this version of the program writes: `irq` reads it, and shows over the network what it shows with the
//! store's file. `GET /v1/whoami` says which version answers.

use axum::Json;
use axum::extract::{OriginalUri, State};
use axum::response::Response;
use interrupts::IdempotencyKey;
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{RunState, State as InterruptState};
use interrupts::store::{Filter, Page, StandingRules};
use routing_core::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use utoipa::{IntoParams, ToSchema};

use control::RunProgress;

use super::list::listed;
use crate::access::{Reads, Surveys};
use crate::acting::{reading_of, rule_named};
use crate::app::App;
use crate::parameters::{Parameters, Segment, page, wrong};
use crate::problem::{Code, Problem};

/// A row and its place among its like.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Placed {
    /// Its place; later ones are larger.
    position: u64,
    /// The row.
    #[schema(value_type = Object)]
    record: Box<RawValue>,
}

/// A part of a list of rows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordPage {
    /// The rows.
    records: Vec<Placed>,
    /// Where the next part begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
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

fn record(row: impl Serialize) -> Result<Box<RawValue>, Problem> {
    to_raw_value(&row).map_err(|error| {
        tracing::error!(%error, "a row cannot be written as JSON");
        Problem::new(Code::Internal, "a row cannot be shown", "report this")
    })
}

/// The response to a query for rows: those of one page, each with its position.
fn answer<T: Serialize>(
    uri: &axum::http::Uri,
    page: Page,
    rows: impl IntoIterator<Item = (u64, T)>,
) -> Result<Response, Problem> {
    let mut records = Vec::new();
    for (position, row) in rows {
        let record = record(row)?;
        records.push(Placed { position, record });
    }
    let next_cursor = (records.len() == page.limit as usize)
        .then(|| records.last().map(|last| last.position.to_string()))
        .flatten();
    let cursor = next_cursor.clone();
    let body = RecordPage {
        records,
        next_cursor,
    };
    Ok(listed(uri, cursor.as_deref(), body))
}

/// Which runs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunQuery {
    /// Only runs in one of these states, with commas between them.
    #[param(
        pattern = "^(created|running|stopping|paused|waiting|completed|failed|cancelled)(,(created|running|stopping|paused|waiting|completed|failed|cancelled))*$"
    )]
    states: Option<String>,
    /// Where a part before ended.
    cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// Reads names separated by commas.
fn named<T: std::str::FromStr<Err: std::fmt::Display>>(
    parameter: &str,
    text: Option<&str>,
) -> Result<Vec<T>, Problem> {
    let names = text.into_iter().flat_map(|text| text.split(','));
    let read = names.map(|name| {
        name.parse()
            .map_err(|error| wrong(parameter, format!("{error}")))
    });
    read.collect()
}

/// Runs in the order of their creation.
#[utoipa::path(get, path = "/v1/records/runs", params(RunQuery), extensions(("x-right" = json!("read"))),
    responses((status = 200, body = RecordPage)))]
pub(crate) async fn runs(
    State(app): State<App>,
    Reads(caller): Reads,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<RunQuery>,
) -> Result<Response, Problem> {
    let states: Vec<RunState> = named("states", query.states.as_deref())?;
    let page = page(query.cursor.as_deref(), query.limit)?;
    answer(&uri, page, caller.runs(&app, &states, page).await?)
}

/// A run, by its id or its client's name for it.
#[utoipa::path(get, path = "/v1/records/runs/{run_id}", params(("run_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = Object)))]
pub(crate) async fn run(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
) -> Result<Json<Box<RawValue>>, Problem> {
    record(caller.run(&app, &run).await?).map(Json)
}

/// How far a run has come.
#[utoipa::path(get, path = "/v1/records/runs/{run_id}/progress", params(("run_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = Object)))]
pub(crate) async fn progress(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
) -> Result<Json<Box<RawValue>>, Problem> {
    let run = caller.run(&app, &run).await?;
    caller.demand_whole_run()?;
    let progress = RunProgress::of(app.store(), run.id, |run| app.is_executed(run)).await;
    record(progress?).map(Json)
}

/// A plan, where the run has saved one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlanRecord {
    /// The plan with all that is told of it.
    #[schema(value_type = Option<Object>)]
    reading: Option<Box<RawValue>>,
}

/// The plan of a run that carries out one, with all that is told of it.
#[utoipa::path(get, path = "/v1/records/runs/{run_id}/plan", params(("run_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = PlanRecord)))]
pub(crate) async fn plan(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
) -> Result<Json<PlanRecord>, Problem> {
    let run = caller.run(&app, &run).await?;
    caller.demand_whole_run()?;
    let reading = reading_of(&app, &run).await?;
    let reading = reading.map(record).transpose()?;
    Ok(Json(PlanRecord { reading }))
}

/// Which agents.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentQuery {
    /// Only this one, by its id in the run.
    #[param(pattern = "^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$", max_length = 200)]
    node_id: Option<String>,
    /// Where a part before ended.
    cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// The agents of a run, in the order in which they came to be.
#[utoipa::path(get, path = "/v1/records/runs/{run_id}/agents", params(("run_id" = String, Path), AgentQuery),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = RecordPage)))]
pub(crate) async fn agents(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<AgentQuery>,
) -> Result<Response, Problem> {
    let run = caller.run(&app, &run).await?;
    let page = page(query.cursor.as_deref(), query.limit)?;
    if let Some(node) = &query.node_id {
        let node = NodeId::new(node).map_err(|error| wrong("node_id", error.to_string()))?;
        let row = app.store().node(run.id, &node).await?;
        let row = row.filter(|row| caller.covers(row.run, &row.node));
        return answer(&uri, page, row.map(|row| (0, row)));
    }
    answer(&uri, page, caller.nodes(&app, run.id, page).await?)
}

/// The checkpoints of a run.
#[utoipa::path(get, path = "/v1/records/runs/{run_id}/checkpoints", params(("run_id" = String, Path), PartQuery),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = RecordPage)))]
pub(crate) async fn checkpoints(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<PartQuery>,
) -> Result<Response, Problem> {
    let run = caller.run(&app, &run).await?;
    caller.demand_whole_run()?;
    let page = page(query.cursor.as_deref(), query.limit)?;
    let rows = app.store().checkpoints(run.id, page).await?;
    answer(&uri, page, rows.into_iter().map(|row| (row.id.number, row)))
}

/// The journal of a run: what it did, and what came of it.
#[utoipa::path(get, path = "/v1/records/runs/{run_id}/journal", params(("run_id" = String, Path), PartQuery),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = RecordPage)))]
pub(crate) async fn journal(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<PartQuery>,
) -> Result<Response, Problem> {
    let run = caller.run(&app, &run).await?;
    caller.demand_whole_run()?;
    let page = page(query.cursor.as_deref(), query.limit)?;
    let rows = app.store().journal(run.id, page).await?;
    answer(&uri, page, rows.into_iter().map(|row| (row.position, row)))
}

/// The messages to the agents of a run.
#[utoipa::path(get, path = "/v1/records/runs/{run_id}/messages", params(("run_id" = String, Path), PartQuery),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = RecordPage)))]
pub(crate) async fn messages(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<PartQuery>,
) -> Result<Response, Problem> {
    let run = caller.run(&app, &run).await?;
    caller.demand_whole_run()?;
    let page = page(query.cursor.as_deref(), query.limit)?;
    let rows = app.store().messages(run.id, page).await?;
    answer(&uri, page, rows.into_iter().map(|row| (row.position, row)))
}

/// Which interrupts.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct InterruptQuery {
    /// Only of this run.
    run_id: Option<String>,
    /// Only of this agent, by its id in its run.
    #[param(pattern = "^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$", max_length = 200)]
    node_id: Option<String>,
    /// Only in one of these states, with commas between them.
    #[param(
        pattern = "^(requested|delivered|acknowledged|awaiting_review|resolved|rerouted|expired|cancelled|dead_lettered)(,(requested|delivered|acknowledged|awaiting_review|resolved|rerouted|expired|cancelled|dead_lettered))*$"
    )]
    states: Option<String>,
    /// Only the one that came of the event with this id: at most 200 bytes, no control characters.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]+$", max_length = 200)]
    key: Option<String>,
    /// Where a part before ended.
    cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// Interrupts in the order of their admission.
#[utoipa::path(get, path = "/v1/records/interrupts", params(InterruptQuery),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = RecordPage)))]
pub(crate) async fn interrupts(
    State(app): State<App>,
    Reads(caller): Reads,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<InterruptQuery>,
) -> Result<Response, Problem> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    // Invalid states are refused even if the key alone identifies the interrupt.
    let states: Vec<InterruptState> = named("states", query.states.as_deref())?;
    let node = query
        .node_id
        .map(|node| NodeId::new(node).map_err(|error| wrong("node_id", error.to_string())))
        .transpose()?;
    if let Some(key) = query.key {
        let key = IdempotencyKey::new(key).map_err(|error| wrong("key", error.to_string()))?;
        let found = app.store().interrupt_of(&key).await?;
        let found = found.filter(|one| caller.covers(one.run, &one.node));
        return answer(&uri, page, found.map(|interrupt| (0, interrupt)));
    }
    let run = match &query.run_id {
        Some(run) => Some(caller.run(&app, run).await?.id),
        None => None,
    };
    let filter = Filter { run, node, states };
    answer(&uri, page, caller.interrupts(&app, &filter, page).await?)
}

/// An interrupt.
#[utoipa::path(get, path = "/v1/records/interrupts/{interrupt_id}", params(("interrupt_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = Object)))]
pub(crate) async fn interrupt(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(id): Segment,
) -> Result<Json<Box<RawValue>>, Problem> {
    record(caller.interrupt(&app, &id).await?).map(Json)
}

/// What the workflow of a run says of itself: its kinds of agents, their routes, and what fits there.
#[utoipa::path(get, path = "/v1/records/runs/{run_id}/catalogue", params(("run_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = Object)))]
pub(crate) async fn catalogue_of_run(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(run): Segment,
) -> Result<Json<Box<RawValue>>, Problem> {
    let run = caller.run(&app, &run).await?;
    written(app.catalogue_of_run(&run).await?)
}

/// The catalogue that an interrupt was raised under.
#[utoipa::path(get, path = "/v1/records/interrupts/{interrupt_id}/catalogue", params(("interrupt_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = Object)))]
pub(crate) async fn catalogue_of_interrupt(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(id): Segment,
) -> Result<Json<Box<RawValue>>, Problem> {
    let interrupt = caller.interrupt(&app, &id).await?;
    written(app.catalogue_of(&interrupt).await?)
}

fn written(catalogue: Option<SharedCatalogue>) -> Result<Json<Box<RawValue>>, Problem> {
    let Some(catalogue) = catalogue else {
        return Err(Problem::new(
            Code::NotFound,
            "nothing is known of the workflow of the run",
            "ask the program that executes the run",
        ));
    };
    record(&*catalogue).map(Json)
}

/// The standing rules, in the order in which they were made; those that have ended too.
#[utoipa::path(get, path = "/v1/records/rules", params(PartQuery), extensions(("x-right" = json!("survey"))),
    responses((status = 200, body = RecordPage)))]
pub(crate) async fn rules(
    State(app): State<App>,
    Surveys(_caller): Surveys,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<PartQuery>,
) -> Result<Response, Problem> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let rows = StandingRules::rules(app.store(), page).await;
    answer(&uri, page, rows?)
}

/// A standing rule.
#[utoipa::path(get, path = "/v1/records/rules/{rule_id}", params(("rule_id" = String, Path)),
    extensions(("x-right" = json!("survey"))), responses((status = 200, body = Object)))]
pub(crate) async fn rule(
    State(app): State<App>,
    Surveys(_caller): Surveys,
    Segment(id): Segment,
) -> Result<Json<Box<RawValue>>, Problem> {
    record(rule_named(&app, &id).await?).map(Json)
}

/// The audit, each row with the text that its digest covers: whoever reads it all can check it himself.
#[utoipa::path(get, path = "/v1/records/audit", params(PartQuery), extensions(("x-right" = json!("survey"))),
    responses((status = 200, body = RecordPage)))]
pub(crate) async fn audit(
    State(app): State<App>,
    Surveys(_caller): Surveys,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<PartQuery>,
) -> Result<Response, Problem> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let rows = app.store().audit(page).await?;
    answer(&uri, page, rows.into_iter().map(|row| (row.position, row)))
}
