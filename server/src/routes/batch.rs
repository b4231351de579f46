//! Several decisions in one request.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use control::{Caller, DecisionParts, NewDecision};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::decisions::digest;
use super::list::RequestKey;
use crate::access::Decides;
use crate::acting::{self, DecideOutcome, DecisionOrder, interrupt_named};
use crate::app::App;
use crate::body::StrictJson;
use crate::metrics::Way;
use crate::problem::{Code, Problem};
use crate::wire::{DecisionName, DecisionView, RememberBody};

/// The highest possible version.
const HIGHEST_VERSION: u64 = i64::MAX as u64;
/// The most decisions of a batch.
const MOST: usize = 200;

/// Several decisions that shall be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody {
    /// The decisions, at most 200.
    #[schema(min_items = 1, max_items = 200)]
    decisions: Vec<BatchItem>,
    /// Whether all are made in one transaction, or none. Otherwise each commits alone, and the answer says which
    /// were made.
    #[serde(default)]
    all_or_nothing: bool,
}

/// One of them.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchItem {
    /// The interrupt.
    interrupt_id: String,
    /// The version that was shown.
    version: u64,
    /// What is decided.
    decision: DecisionName,
    /// The answer.
    #[serde(default)]
    payload: Option<Map<String, Value>>,
    /// Words for the agent.
    #[serde(default)]
    message: Option<String>,
    /// Where to go instead.
    #[serde(default)]
    reroute_to: Option<String>,
    /// The digest of what was shown.
    #[serde(default)]
    #[schema(pattern = "^[0-9a-f]{64}$")]
    shown_digest: Option<String>,
    /// That it holds for the same question when it is asked again.
    #[serde(default)]
    remember: Option<RememberBody>,
}

/// What came of each.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchView {
    /// In the order of the request.
    results: Vec<BatchResult>,
    /// How many decisions stand because of this request.
    decided: usize,
}

/// What came of one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchResult {
    /// The interrupt.
    interrupt_id: String,
    /// Its decision, where this request made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionView>,
    /// Why not, otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    problem: Option<Value>,
}

/// Makes several decisions, and says of each what came of it: each commits alone, or all of them together.
#[utoipa::path(post, path = "/v1/interrupts:decide", request_body = BatchBody,
    params(("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("decide"))), responses((status = 200, body = BatchView)))]
pub(crate) async fn decide_many(
    State(app): State<App>,
    Decides(caller): Decides,
    RequestKey(key): RequestKey,
    StrictJson(body): StrictJson<BatchBody>,
) -> Result<Response, Problem> {
    if body.decisions.is_empty() || body.decisions.len() > MOST {
        return Err(Problem::new(
            Code::Shape,
            format!("$.decisions: 1 to {MOST} are possible"),
            "send several batches",
        ));
    }
    let mut orders = Vec::new();
    for item in body.decisions {
        orders.push(order_of(item, key.clone())?);
    }
    if body.all_or_nothing {
        return decide_together(&app, &caller, orders).await;
    }
    let mut results = Vec::new();
    for (id, order) in orders {
        results.push(carry_out(&app, &caller, id, order).await);
    }
    let decided = results
        .iter()
        .filter(|result| result.decision.is_some())
        .count();
    Ok(Json(BatchView { results, decided }).into_response())
}

fn order_of(item: BatchItem, key: Option<String>) -> Result<(String, DecisionOrder), Problem> {
    if item.version > HIGHEST_VERSION {
        let detail = format!("$.decisions[].version: at most {HIGHEST_VERSION} is possible");
        return Err(Problem::new(
            Code::Shape,
            detail,
            "send the version that was shown",
        ));
    }
    let order = DecisionOrder {
        decision: NewDecision {
            version: Some(item.version),
            shown: digest(item.shown_digest.as_deref())?,
            parts: DecisionParts {
                verdict: item.decision.into(),
                payload: item.payload.map(Value::Object),
                message: item.message,
                reroute_to: item.reroute_to,
            },
            remember: item
                .remember
                .map(|remember| remember.order("decisions[].remember."))
                .transpose()?,
        },
        key,
        way: Way::Batch,
    };
    Ok((item.interrupt_id, order))
}

/// Decides all or none. Every decision that is refused, by a check or because another caller was faster, is named.
async fn decide_together(
    app: &App,
    caller: &Caller,
    orders: Vec<(String, DecisionOrder)>,
) -> Result<Response, Problem> {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    let names: Vec<String> = orders.iter().map(|(id, _)| id.clone()).collect();
    for (place, (id, order)) in orders.into_iter().enumerate() {
        match interrupt_named(app, &id).await {
            Ok(interrupt) => found.push((interrupt, order)),
            Err(problem) => refused.push((place, problem)),
        }
    }
    if !refused.is_empty() {
        return Err(none_decided(&names, refused));
    }
    let decided = acting::decide_all(app, caller, &found).await;
    let decided = decided.map_err(|refused| none_decided(&names, refused))?;
    let results: Vec<BatchResult> = decided
        .iter()
        .map(DecideOutcome::interrupt)
        .map(|interrupt| BatchResult {
            interrupt_id: interrupt.id.to_string(),
            decision: DecisionView::of(interrupt),
            problem: None,
        })
        .collect();
    let decided = results.len();
    Ok(Json(BatchView { results, decided }).into_response())
}

fn none_decided(names: &[String], refused: Vec<(usize, Problem)>) -> Problem {
    let count = refused.len();
    let refused: Vec<Value> = refused
        .into_iter()
        .map(|(place, problem)| {
            let id = names.get(place);
            serde_json::json!({"place": place, "interrupt_id": id, "problem": problem.to_json()})
        })
        .collect();
    Problem::new(
        Code::BatchRefused,
        format!("{count} of {} are refused", names.len()),
        "nothing was decided; send the others without these",
    )
    .with("refused", refused)
}

async fn carry_out(app: &App, caller: &Caller, id: String, order: DecisionOrder) -> BatchResult {
    let decided = match interrupt_named(app, &id).await {
        Ok(interrupt) => acting::decide(app, caller, &interrupt, order).await,
        Err(problem) => Err(problem),
    };
    match decided {
        Ok(decided) => BatchResult {
            interrupt_id: id,
            decision: DecisionView::of(decided.interrupt()),
            problem: None,
        },
        Err(problem) => BatchResult {
            interrupt_id: id,
            decision: None,
            problem: Some(problem.to_json()),
        },
    }
}
