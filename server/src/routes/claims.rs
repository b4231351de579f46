//! Claims: soft locks, so that two people do not look at the same question.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use control::{Caller, ChangeClaim};
use interrupts::life::Interrupt;
use jiff::SignedDuration;
use serde::Deserialize;
use utoipa::ToSchema;

use super::list::{SeenVersion, etag};
use crate::access::Decides;
use crate::acting::interrupt_named;
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::Segment;
use crate::problem::Problem;
use crate::wire::InterruptView;

/// How long a claim shall hold.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ClaimBody {
    /// For so many seconds, at most an hour.
    #[schema(minimum = 1, maximum = 3600)]
    ttl_s: Option<u32>,
}

/// Claims an interrupt: others cannot decide it while the claim holds.
#[utoipa::path(put, path = "/v1/interrupts/{interrupt_id}/claim", request_body = ClaimBody,
    params(("interrupt_id" = String, Path), ("If-Match" = Option<String>, Header)),
    extensions(("x-right" = json!("decide"))), responses((status = 200, body = InterruptView)))]
pub(crate) async fn claim(
    State(app): State<App>,
    Decides(caller): Decides,
    seen: SeenVersion,
    Segment(id): Segment,
    StrictJson(body): StrictJson<ClaimBody>,
) -> Result<Response, Problem> {
    let interrupt = interrupt_named(&app, &id).await?;
    let asked = body
        .ttl_s
        .map(|seconds| SignedDuration::from_secs(seconds.into()));
    let lasting = asked.unwrap_or(app.config.limits.claim);
    changed(&app, &caller, (&interrupt, seen), Some(lasting)).await
}

/// Gives a claim back.
#[utoipa::path(delete, path = "/v1/interrupts/{interrupt_id}/claim",
    params(("interrupt_id" = String, Path), ("If-Match" = Option<String>, Header)),
    extensions(("x-right" = json!("decide"))), responses((status = 200, body = InterruptView)))]
pub(crate) async fn release(
    State(app): State<App>,
    Decides(caller): Decides,
    seen: SeenVersion,
    Segment(id): Segment,
) -> Result<Response, Problem> {
    let interrupt = interrupt_named(&app, &id).await?;
    changed(&app, &caller, (&interrupt, seen), None).await
}

async fn changed(
    app: &App,
    caller: &Caller,
    (interrupt, seen): (&Interrupt, SeenVersion),
    lasting: Option<SignedDuration>,
) -> Result<Response, Problem> {
    let command = ChangeClaim {
        interrupt: interrupt.id,
        version: seen.of(interrupt),
        lasting,
    };
    let changed = app.carry_out(caller, command).await?;
    let tag = [(header::ETAG, etag(changed.version))];
    Ok((tag, Json(app.shown(&changed).await?)).into_response())
}
