//! Standing rules: decisions that apply to the same question when it is asked again.

use axum::Json;
use axum::extract::{OriginalUri, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use control::{DecisionParts, NewDecision};
use interrupts::store::StandingRules;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::decisions::digest;
use super::list::{RequestKey, listed};
use crate::access::{Decides, Directs, Surveys};
use crate::acting::{self, DecisionOrder, interrupt_named};
use crate::app::App;
use crate::body::StrictJson;
use crate::metrics::Way;
use crate::parameters::{Parameters, Segment, page};
use crate::problem::{Code, Problem};
use crate::wire::{DecisionName, ReachName, RememberBody, RulePage, RuleView};

/// Which rules.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleQuery {
    /// Where a part before ended.
    cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// The standing rules, in the order in which they were made; those that have ended too.
#[utoipa::path(get, path = "/v1/rules", params(RuleQuery), extensions(("x-right" = json!("survey"))),
    responses((status = 200, body = RulePage)))]
pub(crate) async fn list(
    State(app): State<App>,
    Surveys(_caller): Surveys,
    OriginalUri(uri): OriginalUri,
    Parameters(query): Parameters<RuleQuery>,
) -> Result<Response, Problem> {
    let page = page(query.cursor.as_deref(), query.limit)?;
    let rows = StandingRules::rules(app.store(), page).await?;
    let full = rows.len() == page.limit as usize;
    let cursor = rows.last().map(|(position, _)| position.to_string());
    let next_cursor = cursor.filter(|_| full);
    let now = app.now();
    let rules = rows
        .iter()
        .map(|(_, rule)| RuleView::of(rule, now))
        .collect();
    let body = RulePage {
        rules,
        next_cursor: next_cursor.clone(),
    };
    Ok(listed(&uri, next_cursor.as_deref(), body))
}

/// A rule that shall be made of an interrupt which was shown to somebody.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleBody {
    /// The interrupt, open or decided. It stays as it is.
    interrupt_id: String,
    /// The digest of what was shown, `shown_digest` of the interrupt: a rule is bound to it.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shown_digest: String,
    /// What is decided: `approve`, `respond`, `reject` or `reroute`, as far as the interrupt allows it.
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
    /// How far it reaches.
    #[serde(default)]
    scope: ReachName,
    /// How long it holds, in seconds: at most 30 days.
    #[schema(minimum = 1, maximum = 2592000)]
    ttl_s: u32,
    /// How often it may be used.
    #[schema(minimum = 1, maximum = 1000)]
    max_uses: u32,
}

/// Makes a rule. It answers what agents ask from then on; what people see already stays with them.
#[utoipa::path(post, path = "/v1/rules", request_body = RuleBody,
    params(("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("direct"))), responses((status = 201, body = RuleView)))]
pub(crate) async fn create(
    State(app): State<App>,
    Directs(caller): Directs,
    RequestKey(key): RequestKey,
    StrictJson(body): StrictJson<RuleBody>,
) -> Result<Response, Problem> {
    let remember = RememberBody {
        scope: body.scope,
        ttl_s: body.ttl_s,
        max_uses: body.max_uses,
    }
    .order("")?;
    let shown = digest(Some(&body.shown_digest))?.ok_or_else(|| {
        Problem::new(
            Code::Shape,
            "$.shown_digest: a rule is bound to what was shown",
            "read the interrupt, and name its `shown_digest`",
        )
    })?;
    let interrupt = interrupt_named(&app, &body.interrupt_id).await?;
    let order = DecisionOrder {
        decision: NewDecision {
            version: None,
            shown: Some(shown),
            parts: DecisionParts {
                verdict: body.decision.into(),
                payload: body.payload.map(Value::Object),
                message: body.message,
                reroute_to: body.reroute_to,
            },
            remember: None,
        },
        key,
        way: Way::Rest,
    };
    let made = acting::make_rule(&app, &caller, &interrupt, (shown, remember), &order).await?;
    let location = [(header::LOCATION, format!("/v1/rules/{}", made.id))];
    let view = Json(RuleView::of(&made, app.now()));
    Ok((StatusCode::CREATED, location, view).into_response())
}

/// A standing rule.
#[utoipa::path(get, path = "/v1/rules/{rule_id}", params(("rule_id" = String, Path)),
    extensions(("x-right" = json!("survey"))), responses((status = 200, body = RuleView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Surveys(_caller): Surveys,
    Segment(id): Segment,
) -> Result<Json<RuleView>, Problem> {
    let rule = acting::rule_named(&app, &id).await?;
    Ok(Json(RuleView::of(&rule, app.now())))
}

/// Revokes a rule: reviewers their own, supervisors and admins every one. What it decided stays decided.
#[utoipa::path(delete, path = "/v1/rules/{rule_id}", params(("rule_id" = String, Path)),
    extensions(("x-right" = json!("decide"))), responses((status = 200, body = RuleView)))]
pub(crate) async fn revoke(
    State(app): State<App>,
    Decides(caller): Decides,
    Segment(id): Segment,
) -> Result<Json<RuleView>, Problem> {
    let rule = acting::revoke_rule(&app, &caller, &id).await?;
    Ok(Json(RuleView::of(&rule, app.now())))
}
