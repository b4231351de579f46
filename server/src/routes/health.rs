//! Whether the server lives, is ready, and what it counted.

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use interrupts::life::{RunState, State as InterruptState};
use interrupts::store::{Filter, Pages, Run};

use crate::access::Surveys;
use crate::app::App;
use crate::metrics::METRICS_TYPE;
use crate::probes::takes_changes;
use crate::problem::{Problem, in_time};
use crate::wire::kind_of;

/// How long a scrape waits until everything that has happened is counted.
const CATCHES_UP_WITHIN: Duration = Duration::from_secs(1);

/// The most runs that are counted by their state, and the most interrupts by what they are about.
const MOST_COUNTED: usize = 10_000;

/// The states of runs that have not ended.
const LIVE: [RunState; 5] = [
    RunState::Created,
    RunState::Running,
    RunState::Waiting,
    RunState::Paused,
    RunState::Stopping,
];

/// The process lives.
#[utoipa::path(get, path = "/livez", responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn live() -> &'static str {
    "alive\n"
}

/// The store takes changes, and the server is not being stopped.
#[utoipa::path(get, path = "/readyz", responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn ready(State(app): State<App>) -> Result<String, Problem> {
    if app.draining.is_cancelled() {
        return Err(Problem::draining("use another one"));
    }
    takes_changes(app.store()).await?;
    // The store is the truth: without the broker the server is still ready.
    let bus = app.bus.as_ref().map(|bus| {
        let waiting = app.feed.latest().saturating_sub(bus.through());
        match bus.is_away() {
            true => format!("bus: away, {waiting} events wait\n"),
            false => format!("bus: there, {waiting} events wait\n"),
        }
    });
    let store = app.config.store_notice.as_ref();
    let store = store.map(|notice| format!("store: {notice}, as the server began\n"));
    Ok([
        "ready\n".to_owned(),
        bus.unwrap_or_default(),
        store.unwrap_or_default(),
    ]
    .concat())
}

/// The runs that have not ended: the first 10,000 of them.
async fn live_runs(app: &App) -> Result<Vec<Run>, Problem> {
    let (mut live, mut pages) = (Vec::new(), Pages::of(1_000));
    let read = |page| app.store().runs(&LIVE, page);
    while live.len() < MOST_COUNTED
        && let Some(rows) = pages.next(read).await?
    {
        live.extend(rows.into_iter().map(|(_position, run)| run));
    }
    Ok(live)
}

/// How many interrupts wait for a person, by what they are about: of the first 10,000 of them.
async fn waiting_by_kind(app: &App) -> Result<HashMap<&'static str, i64>, Problem> {
    let filter = Filter {
        states: vec![InterruptState::AwaitingReview],
        ..Filter::default()
    };
    let (mut kinds, mut counted, mut pages) = (HashMap::new(), 0, Pages::of(1_000));
    let read = |page| app.store().interrupts(&filter, page);
    while counted < MOST_COUNTED
        && let Some(rows) = pages.next(read).await?
    {
        counted += rows.len();
        for (_position, waiting) in &rows {
            *kinds.entry(kind_of(waiting)).or_default() += 1;
        }
    }
    Ok(kinds)
}

/// What was counted since the process began.
#[utoipa::path(get, path = "/metrics", extensions(("x-right" = json!("survey"))),
    responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
pub(crate) async fn metrics(
    State(app): State<App>,
    Surveys(_caller): Surveys,
) -> Result<Response, Problem> {
    // Events are counted as they are read, and a feed without readers reads only now and then. A feed that has ended,
    // because the server does, reads no more: then the scrape reports what was counted so far.
    let caught_up = tokio::time::timeout(CATCHES_UP_WITHIN, app.feed.catches_up()).await;
    if caught_up.is_err() {
        tracing::warn!("the metrics are behind: the feed reads on for too long");
    }
    let waiting = in_time(waiting_by_kind(&app)).await??;
    let runs = in_time(live_runs(&app)).await??;
    let workers = in_time(app.store().workers()).await?;
    let workers = workers?;
    if let Some(bus) = &app.bus {
        app.metrics.publishing(bus, app.feed.latest());
    }
    let text = app
        .metrics
        .text(&waiting, (&runs, &workers), &*app.config.launcher)
        .map_err(|_unwritten| Problem::unwritten_metrics())?;
    let kind = [(header::CONTENT_TYPE, METRICS_TYPE)];
    Ok((kind, text).into_response())
}
