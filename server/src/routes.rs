//! The resources of the interface, and its description, which is made of them.

mod agents;
mod batch;
mod claims;
mod decisions;
mod events;
mod health;
mod history;
mod interrupt_requests;
mod interrupts;
mod list;
mod runs;
mod tokens;

pub(crate) use history::{HistoryQuery, find as find_history, verified};
pub(crate) use interrupts::{InboxQuery, find as find_interrupts, waiting};
pub(crate) use runs::{agents_in, told_of};
pub(crate) use tokens::not_issued;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::{Value, json};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{SESSION_COOKIE, admit_only_the_known, keep_the_pace, refuse_foreign_sites};
use crate::app::App;
use crate::page;
use crate::problem::{Kind, Problem};

/// The frame of the description.
#[derive(OpenApi)]
#[openapi(info(
    title = "Interrupt Router",
    description = "Stops, pauses, questions and reroutes agents, and says where each of them goes on.",
    license(name = "MIT", identifier = "MIT")
))]
struct Frame;

/// Scripts and styles from here alone, no frames, and forms that go nowhere else.
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
        .routes(routes!(agents::list))
        .routes(routes!(agents::read))
        .routes(routes!(agents::interrupt))
        .routes(routes!(agents::send))
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
        .routes(routes!(history::list))
        .routes(routes!(history::verify))
        .routes(routes!(events::stream))
        .routes(routes!(events::socket))
        .routes(routes!(events::ticket))
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
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
    let cookie = ApiKey::Cookie(ApiKeyValue::new(SESSION_COOKIE));
    components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
    let mut api = serde_json::to_value(api).unwrap_or_default();
    complete(&mut api);
    api
}

/// Adds what holds for every operation: who may ask, and which problems it may answer with.
fn complete(api: &mut Value) {
    let codes: Vec<&str> = Kind::ALL.iter().map(|kind| kind.code()).collect();
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
    let Some(paths) = api.get_mut("paths").and_then(Value::as_object_mut) else {
        return;
    };
    for operation in paths
        .values_mut()
        .filter_map(Value::as_object_mut)
        .flat_map(|item| item.values_mut())
        .filter(|operation| operation.get("responses").is_some())
    {
        operation["responses"]["default"] = problem.clone();
        if operation.get("x-right").is_some() {
            operation["security"] = json!([{"bearer": []}, {"session": []}]);
        }
    }
}

/// Everything that is served.
pub(crate) fn router(app: App) -> Router {
    let (resources, api) = resources().split_for_parts();
    let api = described(api);
    let described = axum::routing::get(move || std::future::ready(Json(api.clone())));
    let router = resources
        .route("/openapi.json", described)
        .merge(page::router())
        .fallback(nothing_here)
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn_with_state(app.clone(), keep_the_pace))
        .layer(middleware::from_fn_with_state(
            app.clone(),
            admit_only_the_known,
        ))
        .layer(middleware::from_fn_with_state(
            app.clone(),
            refuse_foreign_sites,
        ))
        .layer(middleware::from_fn_with_state(app.clone(), answer_in_time))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(fixed_header(
            header::CONTENT_SECURITY_POLICY,
            CONTENT_POLICY,
        ))
        .layer(fixed_header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(fixed_header(header::REFERRER_POLICY, "no-referrer"))
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

fn fixed_header(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}

/// An answer begins in time, or the caller is told that it did not. Every answer is counted.
async fn answer_in_time(State(app): State<App>, request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned());
    let time = app.config.limits.answer_time;
    let response = match tokio::time::timeout(time, next.run(request)).await {
        Ok(response) => response,
        Err(_elapsed) => Problem::new(
            Kind::AnswerSlow,
            "the answer took too long; what was asked may have happened",
            "read it again to see; changes with an `Idempotency-Key` can be repeated",
        )
        .into_response(),
    };
    app.metrics.answered(&route, response.status().as_u16());
    response
}

async fn nothing_here() -> Problem {
    Problem::new(
        Kind::NotFound,
        "there is nothing at this address",
        "`/openapi.json` lists what there is",
    )
}

async fn no_such_method() -> Problem {
    Problem::new(
        Kind::Method,
        "the resource has no such method",
        "`/openapi.json` lists what there is",
    )
}

/// What was being handled is lost; the others go on. What the panic says stands in the log alone.
fn panicked(_panic: Box<dyn std::any::Any + Send + 'static>) -> Response {
    tracing::error!("a handler panicked");
    Problem::new(
        Kind::Internal,
        "something failed here that should not",
        "read it again to see what happened; report this",
    )
    .into_response()
}
