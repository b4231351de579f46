//! The resources of the interface, and its description, which is made of them.

mod agents;
mod asyncapi;
mod batch;
mod claims;
mod cloud_events;
mod commands;
mod decisions;
mod events;
mod health;
mod history;
mod interrupt_requests;
mod interrupts;
mod list;
mod messages;
mod plans;
mod records;
mod rules;
mod runs;
mod tokens;
mod whoami;
mod work;

pub use asyncapi::asyncapi;

pub(crate) use agents::{AgentQuery, find as find_agents};
pub(crate) use decisions::digest;
pub(crate) use history::{
    ABOUT, HistoryQuery, export as export_history, newest as newest_history, verified,
};
pub(crate) use interrupts::{
    InboxQuery, find as find_interrupts, find_such as find_such_interrupts,
};
pub(crate) use runs::agents_in;
pub(crate) use work::Settling;

use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use serde_json::{Value, json};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{
    Ticket, admit_only_the_known, limit_rate, refuse_foreign_sites, refuse_large_heads,
    takes_tickets,
};
use crate::app::App;
use crate::feed::FrameType;
use crate::page;
use crate::problem::{Code, Problem};
use crate::wire::InboxName;

/// The frame of the description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Interrupt Router",
        description = "Stops, pauses, questions and reroutes agents, and says where each of them goes on.",
        license(name = "MIT", identifier = "MIT")
    ),
    components(schemas(InboxName))
)] // Only a query names it, and names in queries are not collected.
struct Frame;

/// Scripts and styles only from here, no frames, and forms that go nowhere else.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The resources for programs, with their description.
fn resources() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Frame::openapi())
        .routes(routes!(runs::list, runs::start))
        .routes(routes!(runs::read))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::checkpoints))
        .routes(routes!(runs::tree))
        .routes(routes!(runs::events))
        .routes(routes!(plans::read))
        .routes(routes!(plans::change))
        .routes(routes!(agents::list))
        .routes(routes!(agents::read))
        .routes(routes!(agents::interrupt))
        .routes(routes!(messages::list, messages::send))
        .routes(routes!(messages::withdraw))
        .routes(routes!(interrupts::list))
        .routes(routes!(interrupts::read, interrupts::withdraw))
        .routes(routes!(interrupts::routing_schema_of))
        .routes(routes!(interrupts::redrive))
        .routes(routes!(decisions::decide))
        .routes(routes!(decisions::reroute))
        .routes(routes!(batch::decide_many))
        .routes(routes!(claims::claim, claims::release))
        .routes(routes!(interrupt_requests::publish))
        .routes(routes!(interrupt_requests::fate))
        .routes(routes!(rules::list, rules::create))
        .routes(routes!(rules::read, rules::revoke))
        .routes(routes!(history::list))
        .routes(routes!(history::verify))
        .routes(routes!(events::stream, cloud_events::receive))
        .routes(routes!(events::socket))
        .routes(routes!(events::ticket))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
        .merge(work::resources())
        .routes(routes!(whoami::whoami))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
}

/// The description of the interface, as it is served at `/openapi.json`.
pub fn openapi() -> Value {
    described(resources().into_openapi())
}

fn described(mut api: utoipa::openapi::OpenApi) -> Value {
    let components = api.components.get_or_insert_default();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token of `irq token create`."))
        .build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let ticket = ApiKey::Query(ApiKeyValue::with_description(
        Ticket::PARAMETER,
        "A ticket of `POST /v1/tickets`: good once, for a stream or a socket.",
    ));
    components.add_security_scheme("ticket", SecurityScheme::ApiKey(ticket));
    let mut api = serde_json::to_value(api).unwrap_or_default();
    complete(&mut api);
    api
}

/// Adds what applies to every operation: who may call it, and which problems it may return.
fn complete(api: &mut Value) {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    api["components"]["schemas"]["Problem"] = json!({
        "type": "object",
        "description": "A problem document of RFC 9457.",
        "required": ["type", "title", "status", "detail", "code", "hint"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "instance": {"type": "string"},
            "code": {"enum": codes},
            "hint": {"type": "string", "description": "What to do next."},
        },
    });
    let problem = json!({
        "description": "A problem; `code` says which, `hint` what to do next.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    });
    api["servers"] =
        json!([{"url": "/", "description": "The server that this description comes from."}]);
    let socket = &mut api["paths"]["/v1/ws"]["get"]["description"];
    *socket = format!("{}{}", socket.as_str().unwrap_or_default(), frames()).into();
    let schemas = api["components"]["schemas"].clone();
    let Some(paths) = api.get_mut("paths").and_then(Value::as_object_mut) else {
        return;
    };
    let operations = paths.iter_mut().flat_map(|(path, item)| {
        let item = item.as_object_mut().into_iter().flatten();
        item.map(move |(method, operation)| (path, method, operation))
    });
    for (path, method, operation) in
        operations.filter(|(_, _, operation)| operation.get("responses").is_some())
    {
        operation["operationId"] = operation_id(method, path).into();
        let body = operation.pointer("/requestBody/content/application~1json/schema/$ref");
        let body = body
            .and_then(Value::as_str)
            .and_then(|of| of.rsplit('/').next());
        if let Some(body) = body {
            let needed = schemas.get(body).and_then(|body| body.get("required"));
            // An empty body counts as an object without fields.
            operation["requestBody"]["required"] = needed.is_some().into();
        }
        operation["responses"]["default"] = problem.clone();
        describe(operation);
        let is_feed = method == "get" && takes_tickets(path);
        operation["security"] = match (operation.get("x-right"), is_feed) {
            (None, _) => json!([]),
            (Some(_), true) => json!([{"bearer": []}, {"ticket": []}]),
            (Some(_), false) => json!([{"bearer": []}]),
        };
    }
}

/// The name of an operation: its method and its path in words.
fn operation_id(method: &str, path: &str) -> String {
    let words = path
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    std::iter::once(method)
        .chain(words)
        .collect::<Vec<_>>()
        .join("_")
}

/// Names the frames that a socket takes: OpenAPI has no place for them.
fn frames() -> String {
    let frames = FrameType::ALL.map(|frame| format!("- `{}`: {}", frame.name(), frame.meaning()));
    format!(
        "\n\nA frame is an object with `type`, `id` where the reply shall repeat one, and `payload`. By `type`:\n\n{}",
        frames.join("\n")
    )
}

/// Describes each response, and the form of each parameter that has one.
fn describe(operation: &mut Value) {
    let summary = operation.get("summary").cloned().unwrap_or_default();
    let responses = operation.get_mut("responses");
    let responses = responses.and_then(Value::as_object_mut);
    for response in responses.into_iter().flat_map(|all| all.values_mut()) {
        let said = response.get("description").and_then(Value::as_str);
        if said.is_none_or(str::is_empty) {
            response["description"] = summary.clone();
        }
    }
    let parameters = operation.get_mut("parameters");
    let parameters = parameters.and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        // A parameter that is not given is absent; there is no way to write null.
        let types = parameter.pointer("/schema/type").and_then(Value::as_array);
        if let Some(plain) = types.and_then(|types| types.first()).cloned() {
            parameter["schema"]["type"] = plain;
        }
        let (form, value) = match parameter["name"].as_str().unwrap_or_default() {
            "cursor" | "after_seq" | "Last-Event-ID" => ("pattern", "^[0-9]{1,18}$"),
            "If-Match" => ("pattern", "^(\\*|\"[0-9]{1,19}\")$"),
            "Idempotency-Key" => ("pattern", "^[!-~]{1,200}$"),
            "from" | "to" => ("format", "date-time"),
            "key" => ("pattern", "^[A-Za-z0-9_.:~-]{1,150}$"),
            _ => continue,
        };
        parameter["schema"][form] = value.into();
    }
}

/// Everything that is served.
pub(crate) fn router(app: App) -> Router {
    let (resources, api) = resources().split_for_parts();
    let api = described(api);
    let router = resources
        // Rows of the store for `irq` of the same version: served, and not an interface that others could rely on.
        .route("/v1/records/{what}", axum::routing::get(records::answer))
        .route(
            "/v1/commands/{what}",
            axum::routing::post(commands::carry_out),
        )
        .route("/openapi.json", specification(&api))
        .route("/asyncapi.json", specification(&asyncapi()))
        .merge(page::router())
        .fallback(nothing_here)
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn_with_state(app.clone(), limit_rate))
        .layer(middleware::from_fn_with_state(
            app.clone(),
            admit_only_the_known,
        ))
        .layer(middleware::from_fn_with_state(
            app.clone(),
            refuse_foreign_sites,
        ))
        .layer(middleware::from_fn_with_state(
            app.clone(),
            refuse_large_heads,
        ))
        .layer(middleware::from_fn_with_state(app.clone(), answer_in_time))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(page::tell_people))
        .layer(fixed_header(
            header::CONTENT_SECURITY_POLICY,
            CONTENT_POLICY,
        ))
        .layer(fixed_header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        // Not `no-referrer`: with that browsers send forms of our own page with the origin `null`.
        .layer(fixed_header(header::REFERRER_POLICY, "same-origin"))
        .layer(fixed_header(
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ))
        .layer(SetResponseHeaderLayer::if_not_present(
            header::CACHE_CONTROL,
            HeaderValue::from_static("no-store"),
        ));
    router.with_state(app)
}

/// A description. It needs no token, so it is rendered once and not for each request.
fn specification(described: &Value) -> MethodRouter<App> {
    let text = Bytes::from(described.to_string());
    axum::routing::get(move || {
        let kind = [(header::CONTENT_TYPE, "application/json")];
        std::future::ready((kind, text.clone()))
    })
}

fn fixed_header(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}

/// If a response does not begin in time, the caller gets a timeout. Every response is counted.
async fn answer_in_time(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned());
    let (method, began) = (request.method().clone(), Instant::now());
    let time = app.config.limits.answer_time;
    let response = match tokio::time::timeout(time, next.run(request)).await {
        Ok(response) => response,
        Err(_elapsed) => Problem::new(
            Code::AnswerSlow,
            "the answer took too long; what was asked may have happened",
            "read it again to see; a change that was sent with an `Idempotency-Key` can be sent again with the same one",
        )
        .into_response(),
    };
    let (status, took) = (response.status().as_u16(), began.elapsed());
    // Nothing of the request or the response, and no address of the caller: only the route's pattern is logged.
    tracing::info!(target: "access", %method, route, status, ms = took.as_secs_f64() * 1_000.0, "answered");
    app.metrics.answered(&route, status, took);
    response
}

async fn nothing_here() -> Problem {
    Problem::new(
        Code::NotFound,
        "there is nothing at this address",
        "`/openapi.json` lists what there is",
    )
}

async fn no_such_method() -> Problem {
    Problem::new(
        Code::Method,
        "the resource has no such method",
        "`/openapi.json` lists what there is",
    )
}

/// Only this request is lost; the others continue. The panic's message is only in the log.
fn panicked(_panic: Box<dyn std::any::Any + Send + 'static>) -> Response {
    tracing::error!("a handler panicked");
    Problem::new(
        Code::Internal,
        "something failed here that should not",
        "read it again to see what happened; report this",
    )
    .into_response()
}
