//! Supervisors' events: published here they have the same effect as on the bus.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use control::target_of;
use interrupt_router::EventId;
use interrupt_router::reroute::RerouteState;
use interrupts::IdempotencyKey;
use interrupts::life::Interrupt;
use interrupts::store::{Admitted, RerouteRow};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::access::{Reads, Requests};
use crate::acting;
use crate::app::App;
use crate::body::RawJson;
use crate::parameters::Segment;
use crate::problem::{Code, Problem};
use crate::wire::{AnswerFormName, DecisionView, InterruptStateName, InterruptView, TypeName};

/// An event that asks a running agent to interrupt itself.
#[derive(Debug, ToSchema)]
#[expect(
    dead_code,
    reason = "only describes the JSON, which the core's own type reads"
)]
#[schema(rename_all = "camelCase")]
pub(crate) struct InterruptRequestEvent {
    /// Names the event: sent again, it is the same event.
    #[schema(min_length = 1, max_length = 200)]
    event_id: String,
    /// When it was published, by the publisher's clock.
    #[schema(format = DateTime)]
    timestamp: String,
    /// The agent: its address, or its node id where one live run has it.
    #[schema(pattern = "^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$", max_length = 200)]
    node_id: String,
    /// The kind of that agent.
    source_agent_type: String,
    /// Where to go after the interrupt; back to the agent where it is absent.
    #[schema(required = false, nullable)]
    reroute_to_agent_type: Option<String>,
    /// What the interrupt shall do.
    interrupt_type: TypeName,
    /// Why, in words for the agent and for people.
    reason: String,
    /// The answers that shall be offered.
    #[schema(required = false)]
    choices: Vec<EventChoice>,
    /// What shall be confirmed.
    #[schema(required = false)]
    confirmation_items: Vec<EventConfirmation>,
    /// What one needs to know to decide.
    #[schema(required = false)]
    context_for_decision: String,
    /// What an answer shall be; anything where it is absent.
    #[schema(required = false, nullable)]
    #[schema(value_type = Option<AnswerFormName>)]
    answer_form: Option<String>,
}

/// One of the answers that shall be offered.
#[derive(Debug, ToSchema)]
#[expect(
    dead_code,
    reason = "only describes the JSON, which the core's own type reads"
)]
pub(crate) struct EventChoice {
    /// What people read.
    label: String,
    /// What is recorded when it is chosen.
    value: String,
    /// What it means.
    description: String,
}

/// Something that shall be confirmed.
#[derive(Debug, ToSchema)]
#[expect(
    dead_code,
    reason = "only describes the JSON, which the core's own type reads"
)]
#[schema(rename_all = "camelCase")]
pub(crate) struct EventConfirmation {
    /// Names the item in the answer.
    id: String,
    /// What is to be confirmed.
    prompt: String,
    /// What is suggested to the person.
    #[schema(required = false, nullable)]
    default_value: Option<bool>,
    /// What a refusal leads to.
    #[schema(required = false, nullable)]
    impact_if_no: Option<String>,
}

/// What became of an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FateView {
    /// The event.
    event_id: String,
    /// The state of its interrupt: of the agent's question, once that has its reroute.
    #[schema(value_type = InterruptStateName)]
    state: String,
    /// What became of its reroute: `pending`, `bound`, `consumed`, `expired`, `superseded` or `cancelled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    reroute: Option<Value>,
    /// Where the answer goes.
    target: String,
    /// Its interrupt: the agent's question, once that has its reroute.
    interrupt: InterruptView,
    /// The decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionView>,
}

/// Publishes an event. The same event may be published again, and gives the same answer.
#[utoipa::path(post, path = "/v1/interrupt-requests", request_body = InterruptRequestEvent,
    extensions(("x-right" = json!("request"))),
    responses((status = 202, body = FateView), (status = 200, body = FateView)))]
pub(crate) async fn publish(
    State(app): State<App>,
    Requests(caller): Requests,
    RawJson(json): RawJson,
) -> Result<Response, Problem> {
    let admitted = acting::publish(&app, &caller, &json).await?;
    let status = match &admitted {
        Admitted::New(_) => StatusCode::ACCEPTED,
        Admitted::Known(_) => StatusCode::OK,
    };
    let interrupt = admitted.into_interrupt();
    let location = [(
        header::LOCATION,
        format!("/v1/interrupt-requests/{}", encoded(interrupt.key.as_str())),
    )];
    let view = fate_of(&app, &interrupt).await?;
    Ok((status, location, Json(view)).into_response())
}

fn encoded(segment: &str) -> String {
    url::form_urlencoded::byte_serialize(segment.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}

/// What became of an event.
#[utoipa::path(get, path = "/v1/interrupt-requests/{event_id}", params(("event_id" = String, Path)),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = FateView)))]
pub(crate) async fn fate(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(event): Segment,
) -> Result<Json<FateView>, Problem> {
    let unknown = || {
        Problem::new(
            Code::EventNotFound,
            "no such event was accepted",
            "publish it: sent twice it is accepted once",
        )
    };
    let key = IdempotencyKey::new(&*event).map_err(|_error| unknown())?;
    let interrupt = app.store().interrupt_of(&key).await?;
    let reached = interrupt.filter(|one| caller.reach.covers(one.run, &one.node));
    let interrupt = reached.ok_or_else(unknown)?;
    Ok(Json(fate_of(&app, &interrupt).await?))
}

async fn fate_of(app: &App, asked: &Interrupt) -> Result<FateView, Problem> {
    let reroute = match EventId::try_from(asked.key.as_str().to_owned()) {
        Ok(event) => {
            let row = app.store().reroute(&event).await;
            row?
        }
        Err(_) => None,
    };
    let answering = match &reroute {
        Some(row) => answering(app, asked, row).await?,
        None => None,
    };
    let interrupt = answering.as_ref().unwrap_or(asked);
    let target = match &reroute {
        Some(row) if interrupt.decision.is_none() => row.target.clone(),
        Some(_) | None => target_of(interrupt).clone(),
    };
    Ok(FateView {
        event_id: asked.key.as_str().to_owned(),
        state: interrupt.state.name().to_owned(),
        reroute: reroute.and_then(|row| serde_json::to_value(row.state).ok()),
        target: target.as_str().to_owned(),
        interrupt: app.shown(interrupt).await?,
        decision: DecisionView::of(interrupt),
    })
}

/// The interrupt that has taken an event's reroute, if it is not the event's own.
async fn answering(
    app: &App,
    asked: &Interrupt,
    reroute: &RerouteRow,
) -> Result<Option<Interrupt>, Problem> {
    let has = match &reroute.state {
        RerouteState::Bound { interrupt } | RerouteState::Consumed { interrupt, .. } => *interrupt,
        RerouteState::Pending
        | RerouteState::Expired
        | RerouteState::Superseded { .. }
        | RerouteState::Cancelled { .. } => return Ok(None),
    };
    if has == asked.id {
        return Ok(None);
    }
    let row = app.store().interrupt(has).await;
    Ok(row?)
}
