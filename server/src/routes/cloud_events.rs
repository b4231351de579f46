//! CloudEvents from other systems, in the structured and the binary mode of the HTTP binding: one event a request.

mod envelope;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use control::{Caller, RequestStop, Right};
use interrupts::life::Interrupt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::decisions::{DecisionBody, RerouteBody};
use crate::access::Reads;
use crate::acting::{self, KeyedResume, interrupt_named};
use crate::app::App;
use crate::body::{parse, read};
use crate::bus::BusVerb;
use crate::metrics::Way;
use crate::problem::{Code, Problem};
use envelope::{CloudEvent, Mode};

/// The subjects of commands on the bus, each with the commands that it permits. A broker that lets a supervisor publish
/// only one subject permits only its commands.
const VERBS: [(&str, &[EventCommand]); 4] = [
    (
        "reroute",
        &[EventCommand::RequestEvent, EventCommand::Reroute],
    ),
    ("interrupt", &[EventCommand::Interrupt]),
    ("decide", &[EventCommand::Decide]),
    ("resume", &[EventCommand::Resume]),
];

/// The types that are carried out, each as the request of REST that it stands for.
const TYPES: [(&str, EventCommand); 5] = [
    (
        "dev.irq.interrupt.request_event.v1",
        EventCommand::RequestEvent,
    ),
    ("dev.irq.command.interrupt.v1", EventCommand::Interrupt),
    ("dev.irq.command.decide.v1", EventCommand::Decide),
    ("dev.irq.command.reroute.v1", EventCommand::Reroute),
    ("dev.irq.command.resume.v1", EventCommand::Resume),
];

/// The subjects of commands on the bus, each with the types of events that it is for.
pub(super) fn subjects() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    VERBS.iter().map(|(verb, commands)| {
        let of_verb = TYPES
            .iter()
            .filter(|(_, command)| commands.contains(command));
        (*verb, of_verb.map(|(name, _)| *name).collect())
    })
}

/// What an event asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventCommand {
    RequestEvent,
    Interrupt,
    Decide,
    Reroute,
    Resume,
}

/// A CloudEvent in its structured mode.
#[derive(Debug, ToSchema)]
#[expect(
    dead_code,
    reason = "only describes the JSON, which is read strictly elsewhere"
)]
pub(crate) struct CloudEventBody {
    /// The version of the specification: `1.0`.
    #[schema(pattern = "^1\\.0$")]
    specversion: String,
    /// With `source`, names the event: sent again, it is the same one.
    #[schema(min_length = 1, max_length = 200)]
    id: String,
    /// Who publishes it.
    #[schema(min_length = 1, max_length = 2000)]
    source: String,
    /// What it is: `dev.irq.interrupt.request_event.v1` or `dev.irq.command.interrupt.v1`, `.decide`, `.reroute`,
    /// `.resume`.
    r#type: String,
    /// The type of `data`: JSON.
    #[schema(required = false)]
    datacontenttype: Option<String>,
    /// What the request of REST has in its body, and the id that it has in its address.
    #[schema(value_type = Object)]
    data: Value,
}

/// What came of an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventResult {
    /// The event.
    id: String,
    /// The interrupt that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupt_id: Option<String>,
    /// The state of that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// The run that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
}

/// What came of the event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventResults {
    /// The only one.
    results: [EventResult; 1],
    /// How many were accepted: 1.
    accepted: usize,
}

/// Accepts a CloudEvent: structured (`application/cloudevents+json`), or binary (`ce-` headers, and the data as
/// `application/json`). What it asks for needs the right of the request that it stands for.
#[utoipa::path(post, path = "/v1/events",
    request_body(content((CloudEventBody = "application/cloudevents+json"))),
    extensions(("x-right" = json!("read"))), responses((status = 202, body = EventResults)))]
pub(crate) async fn receive(
    State(app): State<App>,
    Reads(caller): Reads,
    request: Request,
) -> Result<Response, Problem> {
    let depth = app.config.limits.json_depth;
    let verb = request.extensions().get::<BusVerb>().cloned();
    let attributes = match Mode::of(request.headers())? {
        Mode::Binary => Some(envelope::attributes(request.headers())?),
        Mode::Structured => None,
    };
    let bytes = read(request, &app).await?;
    let members = match attributes {
        Some(mut attributes) => {
            attributes.insert("data".to_owned(), parse(&bytes, depth)?);
            attributes
        }
        None => parse(&bytes, depth)?,
    };
    let event = CloudEvent::of(members)?;
    let body = Json(EventResults {
        results: [carry_out(&app, &caller, verb.as_ref(), event).await?],
        accepted: 1,
    });
    Ok((StatusCode::ACCEPTED, body).into_response())
}
impl EventResult {
    fn about(id: String, interrupt: &Interrupt) -> Self {
        Self {
            id,
            interrupt_id: Some(interrupt.id.to_string()),
            state: Some(interrupt.state.name().to_owned()),
            run_id: None,
        }
    }
}

/// What an event about an agent contains beside the fields of the REST request.
#[derive(Deserialize)]
struct OfAgent {
    agent_id: String,
    #[serde(flatten)]
    body: Value,
}

/// What an event about an interrupt contains beside the fields of the REST request.
#[derive(Deserialize)]
struct OfInterrupt {
    interrupt_id: String,
    /// Takes the place of `If-Match`.
    version: u64,
    #[serde(flatten)]
    body: Value,
}

/// What an event about a run contains beside the fields of the REST request.
#[derive(Deserialize)]
struct OfRun {
    run_id: String,
    #[serde(flatten)]
    body: Value,
}

/// Refuses a command that its subject does not permit.
fn check_subject(verb: &BusVerb, command: EventCommand) -> Result<(), Problem> {
    let BusVerb(verb) = verb;
    let of_subject = VERBS.iter().find(|(name, _)| name == verb);
    if of_subject.is_some_and(|(_, commands)| commands.contains(&command)) {
        return Ok(());
    }
    let fitting = VERBS.iter().find(|(_, all)| all.contains(&command));
    let fitting = fitting.map_or("reroute", |(name, _)| name);
    Err(Problem::new(
        Code::Shape,
        format!("type: the subject `cmd.{verb}` is not for events of this type"),
        format!("publish it on `cmd.{fitting}`"),
    ))
}

async fn carry_out(
    app: &App,
    caller: &Caller,
    verb: Option<&BusVerb>,
    event: CloudEvent,
) -> Result<EventResult, Problem> {
    let named = TYPES.iter().find(|(name, _)| *name == event.r#type);
    let Some((_, command)) = named else {
        let types: Vec<Value> = TYPES.iter().map(|(name, _)| (*name).into()).collect();
        let detail = format!("type: `{}` is none that is carried out", event.r#type);
        return Err(Problem::new(Code::Shape, detail, "send one of `types`").with("types", types));
    };
    if let Some(verb) = verb {
        check_subject(verb, *command)?;
    }
    let key = Some(event.key());
    let CloudEvent { id, data, .. } = event;
    match command {
        EventCommand::RequestEvent => {
            let json = data.to_string();
            let admitted = acting::publish(app, caller, json.as_bytes()).await?;
            Ok(EventResult::about(id, &admitted.into_interrupt()))
        }
        EventCommand::Interrupt => {
            let stopped = interrupt(app, caller, data, key).await?;
            Ok(EventResult::about(id, &stopped))
        }
        EventCommand::Decide | EventCommand::Reroute => {
            let decided = decide(app, caller, *command, data, key).await?;
            Ok(EventResult::about(id, &decided))
        }
        EventCommand::Resume => {
            let OfRun { run_id, body } = data_of(data)?;
            let order = data_of(body)?;
            Right::Direct.demand(caller)?;
            let run = caller.reach.run(app.store(), &run_id).await?;
            let how = KeyedResume { order, key };
            let run = acting::resume(app, caller, &run, how).await?;
            Ok(EventResult {
                id,
                interrupt_id: None,
                state: None,
                run_id: Some(run.to_string()),
            })
        }
    }
}

async fn interrupt(
    app: &App,
    caller: &Caller,
    data: Value,
    key: Option<String>,
) -> Result<Interrupt, Problem> {
    let OfAgent { agent_id, body } = data_of(data)?;
    let order = data_of(body)?;
    let agent = caller.reach.agent(app.store(), &agent_id).await?;
    let stop = RequestStop::of(&agent, order, key);
    Ok(app.carry_out(caller, stop).await?.into_interrupt())
}

async fn decide(
    app: &App,
    caller: &Caller,
    command: EventCommand,
    data: Value,
    key: Option<String>,
) -> Result<Interrupt, Problem> {
    let OfInterrupt {
        interrupt_id,
        version,
        body,
    } = data_of(data)?;
    let order = if command == EventCommand::Reroute {
        let body: RerouteBody = data_of(body)?;
        body.order(Some(version), key, Way::Event)
    } else {
        let body: DecisionBody = data_of(body)?;
        body.order(Some(version), key, Way::Event)?
    };
    Right::Decide.demand(caller)?;
    let interrupt = interrupt_named(app, &interrupt_id).await?;
    let decided = acting::decide(app, caller, &interrupt, order).await?;
    Ok(decided.interrupt().clone())
}

/// Reads the data of an event.
fn data_of<T: DeserializeOwned>(data: Value) -> Result<T, Problem> {
    if !data.is_object() {
        return Err(Problem::new(
            Code::Shape,
            "data: this is no object",
            "`/openapi.json` describes what is taken",
        ));
    }
    serde_json::from_value(data).map_err(|error| {
        Problem::new(
            Code::Shape,
            format!("data: {error}"),
            "`/openapi.json` describes the body of the request that the event stands for",
        )
    })
}
