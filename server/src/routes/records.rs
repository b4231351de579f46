//! Records: whole rows of the store, for programs that show them themselves.
//!
//! The views of the other resources contain what callers need, under stable names. A record is the row itself, in the
//! form that this version of the program writes: `irq` reads it, and shows over the network what it shows with the
//! store's file. `GET /v1/whoami` says which version answers.
//!
//! A question ([`control::Ask`]) goes over the network as its name, in the path, and the rest of it as JSON, in one
//! parameter of the query.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use control::{QUESTIONS, Reading, answered};
use serde::Deserialize;

use crate::access::Reads;
use crate::app::App;
use crate::parameters::{Parameters, Segment};
use crate::problem::Problem;

/// What exactly is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordQuery {
    /// As JSON.
    of: String,
}

/// Answers a question.
pub(crate) async fn answer(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(name): Segment,
    Parameters(query): Parameters<RecordQuery>,
) -> Result<Response, Problem> {
    let question = QUESTIONS.iter().find(|question| question.name == name);
    if let Some(question) = question {
        question.right.demand(&caller)?;
    }
    let _turn = app.crowd.turn(question.is_some_and(|it| it.is_list)).await;
    let from = Reading {
        store: app.store(),
        catalogues: &app.catalogues,
        is_executed: &|run| app.is_executed(run),
        reach: &caller.reach,
        now: app.now(),
    };
    Ok(Json(answered(&name, &query.of, &from).await?).into_response())
}
