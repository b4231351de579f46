//! Effects of workers: what must not happen twice.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use workers::{Beginning, EffectState};

use super::{EpochQuery, node_id, owned, refused, work_key};
use crate::access::Works;
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::{Parameters, Segments};
use crate::problem::{Code, Problem};
use crate::wire::EffectView;

/// What is about to be done.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EffectBody {
    /// The agent that does it.
    #[schema(min_length = 1, max_length = 200)]
    agent_id: String,
    /// Whether it may happen twice: then it is begun again where it is not known whether it happened.
    #[serde(default)]
    repeatable: bool,
    /// What it is done with: anything. With it, the key stands for these arguments alone; begun again with others, it is
    /// refused. Their digest is kept, and they are not.
    #[serde(default)]
    arguments: Option<Value>,
    /// Names this try to begin it, by a text that no other try has: sent again because its answer was lost, it is `begun`
    /// and not `unknown`.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    attempt: Option<String>,
}

/// The most bytes of the name of a try.
const LONGEST_ATTEMPT: usize = 200;

/// Begins an effect, or says what became of it.
#[utoipa::path(put, path = "/v1/work/{run_id}/effects/{key}", request_body = EffectBody,
    params(("run_id" = String, Path), ("key" = String, Path), EpochQuery),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = EffectView)))]
pub(crate) async fn begin(
    State(app): State<App>,
    Works(caller): Works,
    Segments(run, key): Segments,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<EffectBody>,
) -> Result<Json<EffectView>, Problem> {
    let key = work_key(&key)?;
    let beginning = Beginning {
        node: node_id("$.agent_id", &body.agent_id)?,
        repeatable: body.repeatable,
        arguments: body.arguments,
        attempt: body.attempt,
    };
    let length = beginning.attempt.as_ref().map_or(1, String::len);
    if !(1..=LONGEST_ATTEMPT).contains(&length) {
        let detail = format!("$.attempt: 1 to {LONGEST_ATTEMPT} bytes are possible");
        return Err(Problem::new(Code::Shape, detail, "a UUID does"));
    }
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let begun = owned.begin(&key, &beginning).await;
    let state = begun.map_err(|error| refused(&app, &error))?;
    Ok(Json(state.into()))
}

/// What an effect came to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultBody {
    /// Anything.
    result: Value,
}

/// Finishes an effect. Finished again with the same result, it is what it was.
#[utoipa::path(put, path = "/v1/work/{run_id}/effects/{key}/result", request_body = ResultBody,
    params(("run_id" = String, Path), ("key" = String, Path), EpochQuery),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = EffectView)))]
pub(crate) async fn finish(
    State(app): State<App>,
    Works(caller): Works,
    Segments(run, key): Segments,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<ResultBody>,
) -> Result<Json<EffectView>, Problem> {
    let key = work_key(&key)?;
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let finished = owned.finish(&key, body.result).await;
    let result = finished.map_err(|error| refused(&app, &error))?;
    Ok(Json(EffectState::Finished(result).into()))
}
