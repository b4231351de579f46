//! Questions of workers, and the one route of each answer.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use control::Caller;
use interrupt_router::schema::Dialect;
use interrupt_router::{AnswerForm, Choice, ConfirmationItem};
use interrupts::store::Run;
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use workers::{Asking, QuestionState, QuestionStatus, Submitted};

use super::super::list::RequestKey;
use super::{
    EpochQuery, WaitLimit, node_id, owned, owned_at_once, protocol, refused, run_id, wait_of,
    work_key,
};
use crate::access::Works;
use crate::app::App;
use crate::body::StrictJson;
use crate::feed::Concern;
use crate::parameters::{Parameters, Segments, wrong};
use crate::problem::Problem;
use crate::wire::{AnswerFormName, DialectName, SchemaView, WorkQuestionView};

/// The longest time that a question may wait, in milliseconds: a year.
const LONGEST_PATIENCE: u64 = 31_536_000_000;

/// An answer to choose from.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChoiceBody {
    /// What is recorded when it is chosen.
    value: String,
    /// What people read; the value where it is absent.
    #[serde(default)]
    label: Option<String>,
    /// What it means.
    #[serde(default)]
    description: String,
}

/// Something that must be confirmed or refused.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfirmationBody {
    /// Names the item in the answer.
    id: String,
    /// What is to be confirmed.
    prompt: String,
    /// What is suggested to the person.
    #[serde(default)]
    default: Option<bool>,
    /// What a refusal leads to.
    #[serde(default)]
    impact_if_no: Option<String>,
}

/// What an agent asks.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionBody {
    /// The agent: `root`, or below it as `root/refunds`. It is there from now on.
    #[schema(min_length = 1, max_length = 200)]
    agent_id: String,
    /// Its kind.
    kind: String,
    /// Why it asks.
    reason: String,
    /// What one needs to know to decide.
    #[serde(default)]
    context: String,
    /// The answers to choose from.
    #[serde(default)]
    choices: Vec<ChoiceBody>,
    /// What must be confirmed.
    #[serde(default)]
    confirmations: Vec<ConfirmationBody>,
    /// What an answer is: exactly one of the choices, any of them, words, or yes or no. Reviewers are offered what
    /// fits, and nothing else is taken. Where it is absent, an answer may be anything.
    #[serde(default)]
    #[schema(value_type = Option<AnswerFormName>)]
    answer_form: Option<AnswerForm>,
    /// The agent's own fields.
    #[serde(default)]
    fields: Map<String, Value>,
    /// How long it waits, in milliseconds; as long as the policy says where it is absent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 31536000000_u64)]
    deadline_ms: Option<u64>,
}

impl QuestionBody {
    fn asking(self) -> Result<Asking, Problem> {
        let patience = match self.deadline_ms {
            None => None,
            Some(given) if (1..=LONGEST_PATIENCE).contains(&given) => Some(
                SignedDuration::from_millis(given.try_into().unwrap_or(i64::MAX)),
            ),
            Some(_) => {
                return Err(Problem::new(
                    crate::problem::Code::Shape,
                    format!("$.deadline_ms: 1 to {LONGEST_PATIENCE} are possible"),
                    "leave it out for a question that waits for ever",
                ));
            }
        };
        let choices = self.choices.into_iter().map(|choice| Choice {
            label: choice.label.unwrap_or_else(|| choice.value.clone()),
            value: choice.value,
            description: choice.description,
        });
        let confirmations = self.confirmations.into_iter().map(|item| ConfirmationItem {
            id: item.id,
            prompt: item.prompt,
            default_value: item.default,
            impact_if_no: item.impact_if_no,
        });
        Ok(Asking {
            node: node_id("$.agent_id", &self.agent_id)?,
            kind: self.kind,
            reason: self.reason,
            context: self.context,
            choices: choices.collect(),
            confirmations: confirmations.collect(),
            answer_form: self.answer_form,
            fields: self.fields,
            allowed: Vec::new(),
            patience,
        })
    }
}

/// How a question is asked.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskQuery {
    /// The epoch in which you have the run.
    epoch: u64,
    /// How long to wait for its decision, in milliseconds.
    #[param(minimum = 0, maximum = 30000)]
    wait_ms: Option<u32>,
}

/// Asks a person, once: with a key that was used before it is the question that is there. With `wait_ms`, the answer comes
/// once it is decided.
#[utoipa::path(put, path = "/v1/work/{run_id}/questions/{key}", request_body = QuestionBody,
    params(("run_id" = String, Path), ("key" = String, Path), AskQuery),
    extensions(("x-right" = json!("work"))),
    responses((status = 201, body = WorkQuestionView), (status = 200, body = WorkQuestionView)))]
pub(crate) async fn ask(
    State(app): State<App>,
    Works(caller): Works,
    Segments(run, key): Segments,
    Parameters(query): Parameters<AskQuery>,
    StrictJson(body): StrictJson<QuestionBody>,
) -> Result<Response, Problem> {
    let key = work_key(&key)?;
    let asking = body.asking()?;
    let owned = owned_at_once(&app, &caller, &run, query.epoch).await?;
    let wait = wait_of(query.wait_ms)?;
    let asked = owned.ask(&key, asking).await;
    let (status, is_new) = asked.map_err(|error| refused(&app, &error))?;
    app.feed.nudge();
    let status = once_decided(&app, &caller, &owned.run, status, (wait, true)).await?;
    let view = handed_over(&app, &caller, &run, query.epoch, status).await?;
    let status = match is_new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok((status, view).into_response())
}

/// A question once it is decided, or as it is when the time is over; with this the worker may take the outcome.
async fn once_decided(
    app: &App,
    caller: &Caller,
    run: &Run,
    mut status: QuestionStatus,
    (wait, takes): (Duration, bool),
) -> Result<QuestionStatus, Problem> {
    if wait.is_zero() || status.state != QuestionState::Open {
        return Ok(status);
    }
    let protocol = protocol(app, caller)?;
    let interrupt = status.interrupt.id;
    let mut patience = WaitLimit::begin(app, Concern::Question { interrupt, takes }, wait);
    loop {
        let read = protocol.question(run, &status.key).await;
        status = read.map_err(|error| refused(app, &error))?;
        if status.state != QuestionState::Open || !patience.more().await {
            return Ok(status);
        }
    }
}

/// How a question is waited for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionQuery {
    /// How long to wait for its decision, in milliseconds.
    #[param(minimum = 0, maximum = 30000)]
    wait_ms: Option<u32>,
    /// The epoch in which you have the run: with it, what was decided counts as taken.
    epoch: Option<u64>,
}

/// A question; with `wait_ms`, once it is decided.
#[utoipa::path(get, path = "/v1/work/{run_id}/questions/{key}",
    params(("run_id" = String, Path), ("key" = String, Path), QuestionQuery),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = WorkQuestionView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Works(caller): Works,
    Segments(run, key): Segments,
    Parameters(query): Parameters<QuestionQuery>,
) -> Result<Json<WorkQuestionView>, Problem> {
    let key = work_key(&key)?;
    let protocol = protocol(&app, &caller)?;
    let id = run_id(&run)?;
    let (wait, takes) = (wait_of(query.wait_ms)?, query.epoch.is_some());
    let answer = async {
        let work = protocol.work(id).await?;
        let status = protocol.question(&work.run, &key).await?;
        Ok((work.run, status))
    };
    let (row, status) = answer.await.map_err(|error| refused(&app, &error))?;
    let status = once_decided(&app, &caller, &row, status, (wait, takes)).await?;
    match query.epoch {
        Some(epoch) => handed_over(&app, &caller, &run, epoch, status).await,
        None => Ok(Json(WorkQuestionView::of(&status))),
    }
}

/// The state of a question, for the worker that owns its run. That the worker has the outcome is recorded while the
/// response is on its way; a server that dies before that sends it once more.
async fn handed_over(
    app: &App,
    caller: &Caller,
    run: &str,
    epoch: u64,
    status: QuestionStatus,
) -> Result<Json<WorkQuestionView>, Problem> {
    let run = owned_at_once(app, caller, run, epoch).await?.run.id;
    let view = Json(WorkQuestionView::of(&status));
    if status.is_taken() || !status.is_settled() {
        return Ok(view);
    }
    let recording = app.settling.begin(run).await;
    let (app, caller) = (app.clone(), caller.clone());
    app.clone().outliving.spawn(async move {
        let settled = async {
            let owned = protocol(&app, &caller)?.owned(run, epoch).await;
            let owned = owned.map_err(|error| refused(&app, &error))?;
            let settled = owned.settled(status).await;
            settled.map_err(|error| refused(&app, &error))
        };
        if let Err(problem) = settled.await {
            // Another worker owns the run by now, and gets the outcome itself.
            tracing::debug!(%run, ?problem, "a question that was told is not recorded as such");
        }
        drop(recording);
    });
    Ok(view)
}

/// Withdraws a question that is not wanted any more. One that is decided stays decided.
#[utoipa::path(delete, path = "/v1/work/{run_id}/questions/{key}",
    params(("run_id" = String, Path), ("key" = String, Path), EpochQuery),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = WorkQuestionView)))]
pub(crate) async fn withdraw(
    State(app): State<App>,
    Works(caller): Works,
    Segments(run, key): Segments,
    Parameters(query): Parameters<EpochQuery>,
) -> Result<Json<WorkQuestionView>, Problem> {
    let key = work_key(&key)?;
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let withdrawn = owned.withdraw(&key).await;
    let status = withdrawn.map_err(|error| refused(&app, &error))?;
    let status = owned.settled(status).await;
    let status = status.map_err(|error| refused(&app, &error))?;
    app.feed.nudge();
    Ok(Json(WorkQuestionView::of(&status)))
}

/// In which dialect a schema is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct DialectQuery {
    /// The dialect that the model's provider takes.
    #[param(value_type = Option<DialectName>)]
    dialect: Option<String>,
}

/// The schema to hand to a model: the one route of the answer, and nothing else.
#[utoipa::path(get, path = "/v1/work/{run_id}/questions/{key}/schema",
    params(("run_id" = String, Path), ("key" = String, Path), DialectQuery),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = SchemaView)))]
pub(crate) async fn schema(
    State(app): State<App>,
    Works(caller): Works,
    Segments(run, key): Segments,
    Parameters(query): Parameters<DialectQuery>,
) -> Result<Json<SchemaView>, Problem> {
    let key = work_key(&key)?;
    let dialect = match query.dialect.as_deref() {
        None => Dialect::JsonSchema,
        Some(name) => name
            .parse()
            .map_err(|error| wrong("dialect", format!("{error}")))?,
    };
    let protocol = protocol(&app, &caller)?;
    let answer = async {
        let work = protocol.work(run_id(&run)?).await;
        let work = work.map_err(|error| refused(&app, &error))?;
        let status = protocol.question(&work.run, &key).await;
        status.map_err(|error| refused(&app, &error))
    };
    let status = answer.await?;
    let route = status
        .taken_route()
        .map_err(|error| refused(&app, &error))?;
    let shown = route.entry.schema_in(workers::RECORD, dialect);
    Ok(Json(SchemaView::of(route, &shown)))
}

/// What a model said.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerBody {
    /// The object, or the text of it as it came.
    answer: Value,
}

/// Submits what a model said of the one route. After three corrections a person is asked. Sent again with its key, because
/// the answer was lost, it counts once.
#[utoipa::path(post, path = "/v1/work/{run_id}/questions/{key}/request", request_body = AnswerBody,
    params(("run_id" = String, Path), ("key" = String, Path), EpochQuery,
        ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("work"))), responses((status = 200, body = WorkQuestionView)))]
pub(crate) async fn submit(
    State(app): State<App>,
    Works(caller): Works,
    RequestKey(attempt): RequestKey,
    Segments(run, key): Segments,
    Parameters(query): Parameters<EpochQuery>,
    StrictJson(body): StrictJson<AnswerBody>,
) -> Result<Json<WorkQuestionView>, Problem> {
    let key = work_key(&key)?;
    let owned = owned(&app, &caller, &run, query.epoch).await?;
    let submitted = owned.submit(&key, &body.answer, attempt.as_deref()).await;
    app.feed.nudge();
    match submitted.map_err(|error| refused(&app, &error))? {
        Submitted::Taken(status) | Submitted::Asked(status) => {
            Ok(Json(WorkQuestionView::of(&status)))
        }
    }
}
