//! Commands that supervisors publish: each is a request of `POST /v1/events`, with the same rules.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use interrupts::bus::{BusAnswer, BusCommand};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::access::Peer;
use crate::app::App;
use crate::problem::{Code, Problem};

/// How many commands are carried out at once.
const AT_ONCE: usize = 64;
/// The longest response that is passed on.
const LONGEST_ANSWER: usize = 8 << 20;
/// How long the server may take to read commands that have already arrived when it stops.
const FAREWELL: Duration = Duration::from_secs(1);
/// The prefix of the attributes of a CloudEvent in headers.
const ATTRIBUTE: &str = "ce-";

/// What the subject of a command asks for. The command must match it.
#[derive(Debug, Clone)]
pub(crate) struct BusVerb(pub(crate) String);

/// Carries out commands from the bus until `stop` is cancelled, and then those that had arrived by then.
pub(crate) async fn carry_out(app: App, router: Router, stop: CancellationToken) {
    let Some(bus) = app.bus.as_ref() else {
        return;
    };
    let bus = bus.broker();
    let under_way = TaskTracker::new();
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let take = async |command: BusCommand| {
        // The semaphore is never closed.
        let turn = Arc::clone(&turns).acquire_owned().await.ok();
        let (app, router) = (app.clone(), router.clone());
        under_way.spawn(async move {
            answer(&app, router, command).await;
            drop(turn);
        });
    };
    loop {
        tokio::select! {
            biased; // The next servers get what comes from here on.
            () = stop.cancelled() => break,
            command = bus.command() => match command {
                Some(command) => take(command).await,
                None => return,
            }
        }
    }
    bus.close().await;
    let rest = async {
        while let Some(command) = bus.command().await {
            take(command).await;
        }
    };
    // A broker that is unavailable does not say that it has no more.
    let _in_time = tokio::time::timeout(FAREWELL, rest).await;
    under_way.close();
    under_way.wait().await;
}

/// Carries out one command, and answers it if an answer is expected.
async fn answer(app: &App, router: Router, command: BusCommand) {
    let reply = command.reply.clone();
    let response = match request(command) {
        // A router is always ready, and never fails.
        Ok(request) => match router.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
        Err(problem) => problem.into_response(),
    };
    let Some((bus, reply)) = app.bus.as_ref().zip(reply) else {
        if !response.status().is_success() {
            let status = response.status().as_u16();
            tracing::info!(
                status,
                "a command was refused whose sender expects no answer"
            );
        }
        return;
    };
    if let Err(error) = bus.broker().answer(&reply, written(response).await).await {
        tracing::warn!(%error, "the answer to a command was not sent");
    }
}

/// The request that a command stands for.
fn request(command: BusCommand) -> Result<Request, Problem> {
    let mut request = Request::post("/v1/events")
        .body(Body::from(command.body))
        .map_err(|_error| malformed("its headers"))?;
    *request.headers_mut() = headers(command.headers)?;
    let extensions = request.extensions_mut();
    extensions.insert(BusVerb(command.verb));
    // All callers on the bus share the limit of one address for tries with invalid tokens.
    let peer = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    extensions.insert(Peer(peer));
    Ok(request)
}

/// The headers that mean something to the request: the token, the attributes, and the type of the body. Without the
/// type, the body is an event if no attribute is in the headers, else its data.
fn headers(given: Vec<(String, String)>) -> Result<HeaderMap, Problem> {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_static("localhost"));
    for (name, value) in given {
        let name = name.to_ascii_lowercase();
        let is_known = name == AUTHORIZATION.as_str() || name == CONTENT_TYPE.as_str();
        if !is_known && !name.starts_with(ATTRIBUTE) {
            continue;
        }
        let value = HeaderValue::try_from(value).map_err(|_error| malformed(&name))?;
        let name = HeaderName::try_from(&name).map_err(|_error| malformed(&name))?;
        headers.append(name, value);
    }
    if !headers.contains_key(CONTENT_TYPE) {
        let kind = match headers.contains_key("ce-specversion") {
            true => "application/json",
            false => "application/cloudevents+json",
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    Ok(headers)
}

fn malformed(what: &str) -> Problem {
    Problem::new(
        Code::Malformed,
        format!("{what} cannot be read"),
        "write it as the NATS binding of CloudEvents does, percent-encoded",
    )
}

/// A response as an answer of the bus.
async fn written(response: Response) -> BusAnswer {
    let (head, body) = response.into_parts();
    let media_type = head.headers.get(CONTENT_TYPE);
    let media_type = media_type.and_then(|kind| kind.to_str().ok());
    let media_type = media_type.unwrap_or("application/json").to_owned();
    match axum::body::to_bytes(body, LONGEST_ANSWER).await {
        Ok(body) => BusAnswer {
            status: head.status.as_u16(),
            media_type,
            body: body.to_vec(),
        },
        Err(error) => {
            tracing::warn!(%error, "an answer is too long for the bus");
            BusAnswer {
                status: StatusCode::INTERNAL_SERVER_ERROR.as_u16(),
                media_type,
                body: Vec::new(),
            }
        }
    }
}
