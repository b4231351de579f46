//! Leases: runs taken, renewed, and released.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::SignedDuration;
use serde::Deserialize;
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};
use workers::{NextRun, Owned, Protocol, Taking, WorkError};

use super::super::list::RequestKey;
use super::{
    EpochQuery, WaitLimit, labels_of, owned, protocol, protocol_named, refused, run_id, wait_of,
};
use crate::access::Works;
use crate::app::App;
use crate::body::StrictJson;
use crate::feed::Concern;
use crate::parameters::{Parameters, Segment};
use crate::problem::{Code, Problem};
use crate::wire::{LeaseView, WorkView};

/// The usual lease, in milliseconds.
const USUAL_LEASE: u32 = 30_000;

/// The shortest and the longest lease, in milliseconds.
const LEASES: std::ops::RangeInclusive<u32> = 1_000..=3_600_000;

/// How long to wait for a run that a server owns: as long as the server applies a stop, or lifts one.
const WHILE_A_SERVER_HAS_IT: Duration = Duration::from_secs(3);

/// How often it is tried again meanwhile.
const PACE: Duration = Duration::from_millis(20);

/// Who takes a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeaseBody {
    /// The worker, by a name that no other one has.
    #[schema(min_length = 1, max_length = 200)]
    worker: String,
    /// How long its lease holds unless it is renewed, in milliseconds.
    #[serde(default)]
    #[schema(minimum = 1000, maximum = 3600000)]
    lease_ms: Option<u32>,
    /// What the worker has that runs may need. It takes none that needs anything else.
    #[serde(default)]
    #[schema(max_items = 50)]
    labels: Vec<String>,
}

/// How long a lease shall hold.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RenewBody {
    /// How long, in milliseconds, from now.
    #[schema(minimum = 1000, maximum = 3600000)]
    lease_ms: Option<u32>,
}

/// How long a request waits for a run.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct TakeQuery {
    /// How long to wait for a run, in milliseconds.
    #[param(minimum = 0, maximum = 30000)]
    wait_ms: Option<u32>,
}

/// How a run is let go.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReleaseQuery {
    /// The epoch in which you have the run.
    epoch: u64,
    /// Whether it waits for answers: it is taken again once one of its questions is over, or something comes for it.
    waiting: Option<bool>,
}

fn lease_of(lease_ms: Option<u32>) -> Result<SignedDuration, Problem> {
    let lease_ms = lease_ms.unwrap_or(USUAL_LEASE);
    if LEASES.contains(&lease_ms) {
        return Ok(SignedDuration::from_millis(lease_ms.into()));
    }
    let (least, most) = (LEASES.start(), LEASES.end());
    Err(Problem::new(
        Code::Shape,
        format!("$.lease_ms: {least} to {most} are possible"),
        "leave it out for 30 seconds",
    ))
}

fn taking(protocol: &Protocol<'_>, key: &RequestKey, body: &LeaseBody) -> Result<Taking, Problem> {
    let shape = |error: interrupts::NameError| {
        Problem::new(Code::Shape, format!("$.worker: {error}"), "shorten it")
    };
    if body.worker.trim().is_empty() {
        let empty = "$.worker: a name that says nothing names no worker";
        return Err(Problem::new(Code::Shape, empty, "name the worker"));
    }
    let lease = lease_of(body.lease_ms)?;
    let taking = protocol.taking(&body.worker, key.0.as_deref(), lease);
    Ok(Taking {
        labels: labels_of("$.labels", &body.labels)?,
        ..taking.map_err(shape)?
    })
}

fn lease_response(protocol: &Protocol<'_>, owned: Owned<'_>) -> Result<Response, Problem> {
    let run = owned.run.id.to_string();
    let work = owned.into_work().map_err(|error| {
        tracing::error!(%run, %error, "the run's order cannot be read");
        Problem::new(Code::Internal, error.to_string(), "report this")
    })?;
    Ok(Json(WorkView::of(protocol, work)).into_response())
}

/// Takes the oldest run of the workflow that can go on, needs no other labels and no worker has. Empty where there is none. Sent again with its
/// key, because the answer was lost, it has the run that it took.
#[utoipa::path(post, path = "/v1/workflows/{name}/leases", request_body = LeaseBody,
    params(("name" = String, Path), TakeQuery, ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("work"))),
    responses((status = 200, body = WorkView), (status = 204)))]
pub(crate) async fn take_next(
    State(app): State<App>,
    Works(caller): Works,
    key: RequestKey,
    Segment(name): Segment,
    Parameters(query): Parameters<TakeQuery>,
    StrictJson(body): StrictJson<LeaseBody>,
) -> Result<Response, Problem> {
    let protocol = protocol_named(&app, &caller, &name)?;
    let mut patience = WaitLimit::begin(&app, Concern::FreeRuns, wait_of(query.wait_ms)?);
    let taking = taking(&protocol, &key, &body)?;
    app.feed.catches_up().await;
    let again = protocol.take_again(&taking).await;
    if let Some(taken) = again.map_err(|error| refused(&app, &error))? {
        return lease_response(&protocol, *taken);
    }
    loop {
        let candidates = app.feed.candidates();
        let next = protocol.take_next(&taking, candidates, app.now()).await;
        let until = match next.map_err(|error| refused(&app, &error))? {
            NextRun::Taken(taken) => {
                app.feed.nudge();
                return lease_response(&protocol, *taken);
            }
            NextRun::NoneYet { until } => until,
        };
        if !patience.more_until(until).await {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
}

/// Takes a run. Sent again with its key, because the answer was lost, it has the run that it took.
#[utoipa::path(post, path = "/v1/work/{run_id}/lease", request_body = LeaseBody,
    params(("run_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)), extensions(("x-right" = json!("work"))),
    responses((status = 200, body = WorkView)))]
pub(crate) async fn take(
    State(app): State<App>,
    Works(caller): Works,
    key: RequestKey,
    Segment(run): Segment,
    StrictJson(body): StrictJson<LeaseBody>,
) -> Result<Response, Problem> {
    let protocol = protocol(&app, &caller)?;
    let taking = taking(&protocol, &key, &body)?;
    let run = run_id(&run)?;
    let ends = Instant::now() + WHILE_A_SERVER_HAS_IT;
    let taken = loop {
        match protocol.take(run, &taking).await {
            Err(WorkError::Owned { lease })
                if protocol.worker_of(&lease.owner).is_none() && Instant::now() < ends =>
            {
                tokio::time::sleep(PACE).await;
            }
            taken => break taken,
        }
    };
    app.feed.nudge();
    let taken = taken.map_err(|error| refused(&app, &error))?;
    lease_response(&protocol, taken)
}

/// Keeps a run for longer, and says whether it was told to stop.
#[utoipa::path(put, path = "/v1/work/{run_id}/lease", request_body = RenewBody,
    params(("run_id" = String, Path), EpochQuery), extensions(("x-right" = json!("work"))),
    responses((status = 200, body = LeaseView)))]
pub(crate) async fn renew(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<RenewBody>,
) -> Result<Json<LeaseView>, Problem> {
    let lease = lease_of(body.lease_ms)?;
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let run = owned.renew(lease).await;
    let run = run.map_err(|error| refused(&app, &error))?;
    let stopping = owned.is_told_to_stop().await;
    Ok(Json(LeaseView {
        lease_until: run.lease.map(|lease| lease.until.to_string()),
        stopping: stopping.map_err(|error| refused(&app, &error))?,
    }))
}

/// Lets a run go, for the next worker that takes it.
#[utoipa::path(delete, path = "/v1/work/{run_id}/lease", params(("run_id" = String, Path), ReleaseQuery),
    extensions(("x-right" = json!("work"))), responses((status = 204)))]
pub(crate) async fn release(
    State(app): State<App>,
    Works(caller): Works,
    Segment(run): Segment,
    Parameters(query): Parameters<ReleaseQuery>,
) -> Result<StatusCode, Problem> {
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let released = owned.release(query.waiting.unwrap_or_default()).await;
    let released = released.map_err(|error| refused(&app, &error))?;
    // A stop may have come that the worker has not seen.
    app.wake(&released);
    app.feed.frees(released.id);
    Ok(StatusCode::NO_CONTENT)
}
