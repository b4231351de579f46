//! Several decisions in one request.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::decisions::digest;
use super::list::RequestKey;
use crate::access::{Caller, Decides};
use crate::acting::{self, DecisionOrder, check_decision, interrupt_named};
use crate::app::App;
use crate::body::StrictJson;
use crate::metrics::Way;
use crate::problem::{Kind, Problem};
use crate::wire::{DecisionName, DecisionView};

/// The most decisions of a batch.
const MOST: usize = 200;

/// Several decisions that shall be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody {
    /// The decisions, at most 200.
    #[schema(min_items = 1, max_items = 200)]
    decisions: Vec<BatchItem>,
    /// Whether none is made where one would be refused now. What others decide in the meantime can still
    /// leave a part of them made; the answer says which.
    #[serde(default)]
    check_all_first: bool,
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
    shown_digest: Option<String>,
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

/// Makes several decisions. Each commits alone, and each says what came of it.
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
            Kind::Shape,
            format!("$.decisions: 1 to {MOST} are possible"),
            "send several batches",
        ));
    }
    let mut orders = Vec::new();
    for item in body.decisions {
        orders.push(order_of(item, key.clone())?);
    }
    if body.check_all_first {
        check_all(&app, &caller, &orders).await?;
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
    let order = DecisionOrder {
        version: Some(item.version),
        shown: digest(item.shown_digest.as_deref())?,
        key,
        verdict: item.decision.into(),
        payload: item.payload.map(Value::Object),
        message: item.message,
        reroute_to: item.reroute_to,
        way: Way::Batch,
    };
    Ok((item.interrupt_id, order))
}

async fn check_all(
    app: &App,
    caller: &Caller,
    orders: &[(String, DecisionOrder)],
) -> Result<(), Problem> {
    let mut refused = Vec::new();
    for (id, order) in orders {
        let checked = match interrupt_named(app, id).await {
            Ok(interrupt) => check_decision(app, caller, &interrupt, order),
            Err(problem) => Err(problem),
        };
        if let Err(problem) = checked {
            refused.push(serde_json::json!({"interrupt_id": id, "problem": problem.to_json()}));
        }
    }
    if refused.is_empty() {
        return Ok(());
    }
    Err(Problem::new(
        Kind::BatchRefused,
        format!("{} of {} would be refused", refused.len(), orders.len()),
        "nothing was decided; send the others without these",
    )
    .with("refused", refused))
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
