//! Decisions.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use control::{DecisionParts, NewDecision};
use interrupts::Digest;
use interrupts::life::Verdict;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::list::{RequestKey, SeenVersion, etag};
use crate::access::Decides;
use crate::acting::{self, DecideOutcome, DecisionOrder, interrupt_named};
use crate::app::App;
use crate::body::StrictJson;
use crate::metrics::Way;
use crate::parameters::{Segment, wrong};
use crate::problem::{Code, Problem};
use crate::wire::{DecisionName, DecisionView, RememberBody};

/// A decision that shall be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionBody {
    /// What is decided: one of `allowed_decisions`.
    decision: DecisionName,
    /// The answer, as `response_schema` says.
    #[serde(default)]
    payload: Option<Map<String, Value>>,
    /// Words for the agent.
    #[serde(default)]
    message: Option<String>,
    /// Where to go instead, with the decision `reroute`: one of `routes`.
    #[serde(default)]
    reroute_to: Option<String>,
    /// The digest of what was shown, `shown_digest` of the interrupt; the decision is refused where it asks
    /// something else.
    #[serde(default)]
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shown_digest: Option<String>,
    /// That it holds for the same question when it is asked again.
    #[serde(default)]
    remember: Option<RememberBody>,
}

impl DecisionBody {
    /// The order for a version of an interrupt.
    pub(super) fn order(
        self,
        version: Option<u64>,
        key: Option<String>,
        way: Way,
    ) -> Result<DecisionOrder, Problem> {
        let remember = self.remember.map(|remember| remember.order("remember."));
        Ok(DecisionOrder {
            decision: NewDecision {
                version,
                shown: digest(self.shown_digest.as_deref())?,
                parts: DecisionParts {
                    verdict: self.decision.into(),
                    payload: self.payload.map(Value::Object),
                    message: self.message,
                    reroute_to: self.reroute_to,
                },
                remember: remember.transpose()?,
            },
            key,
            way,
        })
    }
}

/// Reads a digest that a caller sent.
pub(crate) fn digest(text: Option<&str>) -> Result<Option<Digest>, Problem> {
    text.map(|text| {
        text.parse()
            .map_err(|error| wrong("shown_digest", format!("{error}")))
    })
    .transpose()
}

/// Decides. Of several who try, one wins; the others are told who and what.
#[utoipa::path(post, path = "/v1/interrupts/{interrupt_id}/decisions", request_body = DecisionBody,
    params(("interrupt_id" = String, Path), ("If-Match" = String, Header,
            description = "The version that was read: its `ETag`. `*` is enough for `reject` alone."),
        ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("decide"))),
    responses((status = 201, body = DecisionView), (status = 200, body = DecisionView)))]
pub(crate) async fn decide(
    State(app): State<App>,
    Decides(caller): Decides,
    seen: SeenVersion,
    RequestKey(key): RequestKey,
    Segment(id): Segment,
    StrictJson(body): StrictJson<DecisionBody>,
) -> Result<Response, Problem> {
    let interrupt = interrupt_named(&app, &id).await?;
    let version = seen.decided(&interrupt, body.decision.into());
    let order = body.order(version, key, Way::Rest)?;
    let decided = acting::decide(&app, &caller, &interrupt, order).await?;
    decided_response(&decided)
}

/// A decision to go elsewhere.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RerouteBody {
    /// Where to: one of `routes`.
    reroute_to: String,
    /// Words for the agent.
    #[serde(default)]
    message: Option<String>,
}

impl RerouteBody {
    /// The order for a version of an interrupt.
    pub(super) fn order(
        self,
        version: Option<u64>,
        key: Option<String>,
        way: Way,
    ) -> DecisionOrder {
        DecisionOrder {
            decision: NewDecision {
                version,
                shown: None,
                parts: DecisionParts {
                    message: self.message,
                    reroute_to: Some(self.reroute_to),
                    ..DecisionParts::new(Verdict::Reroute)
                },
                remember: None,
            },
            key,
            way,
        }
    }
}

/// Decides that the answer goes to another agent.
#[utoipa::path(post, path = "/v1/interrupts/{interrupt_id}/reroute", request_body = RerouteBody,
    params(("interrupt_id" = String, Path), ("If-Match" = String, Header,
            description = "The version that was seen: the `ETag` with which it was read."),
        ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("decide"))),
    responses((status = 201, body = DecisionView), (status = 200, body = DecisionView)))]
pub(crate) async fn reroute(
    State(app): State<App>,
    Decides(caller): Decides,
    seen: SeenVersion,
    RequestKey(key): RequestKey,
    Segment(id): Segment,
    StrictJson(body): StrictJson<RerouteBody>,
) -> Result<Response, Problem> {
    let interrupt = interrupt_named(&app, &id).await?;
    let version = seen.decided(&interrupt, Verdict::Reroute);
    let order = body.order(version, key, Way::Rest);
    let decided = acting::decide(&app, &caller, &interrupt, order).await?;
    decided_response(&decided)
}

fn decided_response(decided: &DecideOutcome) -> Result<Response, Problem> {
    let status = match decided {
        DecideOutcome::Now(_) => StatusCode::CREATED,
        DecideOutcome::Before(_) => StatusCode::OK,
    };
    let interrupt = decided.interrupt();
    let view = DecisionView::of(interrupt).ok_or_else(|| {
        Problem::new(
            Code::Internal,
            "the decision was made and cannot be shown",
            "read the interrupt",
        )
    })?;
    let tag = [(header::ETAG, etag(interrupt.version))];
    Ok((status, tag, Json(view)).into_response())
}
