//! The live feed: as a stream, over a socket, and the tickets for both.

use axum::Json;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use control::{Credential, TokenOrder, issue_bought};

use crate::access::{Proof, Reads, Ticket};
use crate::app::App;
use crate::feed::{FeedOrder, Filter, heard_by, open_socket, open_stream};
use crate::parameters::{Parameters, wrong};
use crate::problem::{Code, Problem};

/// How long a ticket is valid.
const TICKET_TIME: SignedDuration = SignedDuration::from_secs(30);

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedQuery {
    /// Patterns of names, with commas between them: `interrupt.*,run.completed`.
    topics: Option<String>,
    /// Only of this run.
    run_id: Option<String>,
    /// Only of this agent, and of those that it started.
    agent_id: Option<String>,
    /// Only events after this position; `Last-Event-ID` goes before it. From now on where neither is given.
    after_seq: Option<String>,
    /// With `1`, each event's type is its name in the stream too.
    named: Option<u8>,
    /// A ticket in place of a token.
    ticket: Option<String>,
}

/// Events as they happen, as server-sent events. Each is a CloudEvent on one line.
#[utoipa::path(get, path = "/v1/events", params(FeedQuery, ("Last-Event-ID" = Option<String>, Header)),
    extensions(("x-right" = json!("read"))),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 204)))]
pub(crate) async fn stream(
    State(app): State<App>,
    Reads(caller): Reads,
    proof: Proof,
    headers: HeaderMap,
    Parameters(query): Parameters<FeedQuery>,
) -> Result<Response, Problem> {
    if app.draining.is_cancelled() {
        return Err(Problem::draining("come back in a moment"));
    }
    let _used_at_the_gate = query.ticket;
    let topics = query.topics.as_deref().unwrap_or_default();
    let topics = topics.split(',').filter(|topic| !topic.is_empty());
    let filter = Filter::default()
        .with_topics(topics)
        .map_err(|error| wrong("topics", error))?;
    let (run, agent) = (query.run_id.as_deref(), query.agent_id.as_deref());
    let filter = heard_by(&caller, app.store(), filter, run, agent).await?;
    let order = FeedOrder {
        filter,
        after: position(&headers, query.after_seq.as_deref())?,
        named: query.named.is_some_and(|named| named != 0),
    };
    open_stream(app, proof, order).await
}

fn position(headers: &HeaderMap, after: Option<&str>) -> Result<Option<u64>, Problem> {
    let last = headers.get("last-event-id");
    let last = last.map(|last| last.to_str().unwrap_or_default());
    let (name, text) = match (last.filter(|last| !last.is_empty()), after) {
        (Some(last), _) => ("Last-Event-ID", last),
        (None, Some(after)) => ("after_seq", after),
        (None, None) => return Ok(None),
    };
    match text.parse::<u64>() {
        Ok(position) if position <= i64::MAX as u64 => Ok(Some(position)),
        Ok(_) | Err(_) => Err(wrong(name, "this is no position that was given out")),
    }
}

/// An upgrade to a socket, or the problem that it is none.
pub(crate) struct Upgrade(WebSocketUpgrade);

impl FromRequestParts<App> for Upgrade {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match WebSocketUpgrade::from_request_parts(parts, app).await {
            Ok(upgrade) => Ok(Self(upgrade)),
            Err(rejection) => Err(Problem::new(
                Code::Malformed,
                rejection.body_text(),
                "open it with a WebSocket client",
            )),
        }
    }
}

/// Events and commands over a WebSocket.
#[utoipa::path(get, path = "/v1/ws",
    params(("ticket" = Option<String>, Query, description = "A ticket in place of a token.")),
    extensions(("x-right" = json!("read"))), responses((status = 101)))]
pub(crate) async fn socket(
    State(app): State<App>,
    Reads(caller): Reads,
    proof: Proof,
    Upgrade(upgrade): Upgrade,
) -> Result<Response, Problem> {
    if app.draining.is_cancelled() {
        return Err(Problem::draining("come back in a moment"));
    }
    Ok(open_socket(app, (caller, proof), upgrade))
}

/// A ticket.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TicketView {
    /// The secret, for `?ticket=`. Good once, for half a minute.
    ticket: String,
    /// When it ends.
    expires_at: String,
}

/// A ticket for one stream or socket, for clients that cannot send headers with it.
#[utoipa::path(post, path = "/v1/tickets", extensions(("x-right" = json!("read"))),
    responses((status = 201, body = TicketView)))]
pub(crate) async fn ticket(
    State(app): State<App>,
    Reads(caller): Reads,
    proof: Proof,
) -> Result<Response, Problem> {
    let order = TokenOrder {
        name: caller.actor.name,
        role: caller.actor.role,
        lifetime: Some(TICKET_TIME),
        once: true,
        scope: caller.reach.0,
        // An audit row for each stream that a browser opens would drown the audit.
        by: None,
    };
    let issued = issue_bought(app.store(), Credential::Ticket, order, proof.lasting).await?;
    let view = TicketView {
        ticket: issued.secret,
        expires_at: issued
            .row
            .expires_at
            .map(|end| end.to_string())
            .unwrap_or_default(),
    };
    tracing::debug!(parameter = Ticket::PARAMETER, "gave out a ticket");
    Ok((StatusCode::CREATED, Json(view)).into_response())
}
