//! Claims: soft locks, so that two people do not look at the same question.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use control::{Caller, Right, not_changed, not_open};
use interrupts::life::{Interrupt, ReviewChange, State as InterruptState};
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
    let version = seen.of(&interrupt);
    let wanted = ReviewChange::Claim { until };
    change(&app, caller, interrupt, version, wanted).await
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
    let version = seen.of(&interrupt);
    change(&app, caller, interrupt, version, ReviewChange::Release).await
}

/// Claims an interrupt for the usual time, or releases it.
pub(crate) async fn claim_or_release(
    app: &App,
    caller: &Caller,
    interrupt: Interrupt,
    version: Option<u64>,
    takes: bool,
) -> Result<(), Problem> {
    Right::Decide.demand(caller)?;
    let wanted = if takes {
        let until = app.now() + app.config.limits.claim;
        ReviewChange::Claim { until }
    } else {
        ReviewChange::Release
    };
    let changed = change(app, caller.clone(), interrupt, version, wanted).await;
    changed.map(|_response| ())
}

async fn change(
    app: &App,
    caller: Caller,
    interrupt: Interrupt,
    version: Option<u64>,
    change: ReviewChange,
) -> Result<Response, Problem> {
    if interrupt.state != InterruptState::AwaitingReview
        && let Some(refusal) = not_open(&interrupt, app.now())
    {
        return Err(refusal.into());
    }
    let version = version.unwrap_or(interrupt.version);
    let changed = app
        .store()
        .review(interrupt.id, caller.actor, version, change)
        .await
        .map_err(|error| not_changed(Some(interrupt.id), error, app.now()))?;
    app.feed.nudge();
    let tag = [(header::ETAG, etag(changed.version))];
    Ok((tag, Json(app.shown(&changed).await?)).into_response())
}
