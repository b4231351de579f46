//! Claims: soft locks, so that two people do not look at the same question.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use control::{Caller, ChangeReview};
use interrupts::life::{Interrupt, ReviewChange};
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

/// The longest claim, in seconds.
const LONGEST: u32 = 3_600;

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
    let ttl = match body.ttl_s {
        Some(seconds) => SignedDuration::from_secs(seconds.clamp(1, LONGEST).into()),
        None => app.config.limits.claim,
    };
    let until = app.now() + ttl;
    let change = ReviewChange::Claim { until };
    changed(&app, &caller, (&interrupt, seen), change).await
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
    let change = ReviewChange::Release;
    changed(&app, &caller, (&interrupt, seen), change).await
}

async fn changed(
    app: &App,
    caller: &Caller,
    (interrupt, seen): (&Interrupt, SeenVersion),
    change: ReviewChange,
) -> Result<Response, Problem> {
    let command = ChangeReview {
        interrupt: interrupt.id,
        version: seen.of(interrupt),
        change,
    };
    let changed = app.control().carry_out(caller, command).await?;
    app.feed.nudge();
    let tag = [(header::ETAG, etag(changed.version))];
    Ok((tag, Json(app.shown(&changed).await?)).into_response())
}
