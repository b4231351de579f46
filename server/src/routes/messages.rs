//! Messages to agents: sent, viewed, taken back while no agent has read them.

use axum::Json;
use axum::extract::{OriginalUri, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use control::{SendMessage, TakeBack};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::list::{RequestKey, listed};
use crate::access::{Directs, Reads};
use crate::app::App;
use crate::body::StrictJson;
use crate::parameters::{Parameters, Segment, Segments, page, wrong};
use crate::problem::Problem;
use crate::wire::{MessagePage, MessageStateName, MessageView};

/// A message to an agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageBody {
    /// What it says.
    #[schema(min_length = 1)]
    text: String,
}

/// A message that was accepted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SentView {
    /// Its place among all messages.
    message: u64,
    /// When it was accepted.
    at: String,
    /// The agent.
    agent_id: String,
}

/// Sends an agent a message, which it reads at the start of its next turn.
#[utoipa::path(post, path = "/v1/agents/{agent_id}/messages", request_body = MessageBody,
    params(("agent_id" = String, Path), ("Idempotency-Key" = Option<String>, Header)),
    extensions(("x-right" = json!("direct"))), responses((status = 202, body = SentView)))]
pub(crate) async fn send(
    State(app): State<App>,
    Directs(caller): Directs,
    RequestKey(key): RequestKey,
    Segment(agent): Segment,
    StrictJson(body): StrictJson<MessageBody>,
) -> Result<Response, Problem> {
    let found = caller.reach.agent(app.store(), &agent).await?;
    let message = SendMessage {
        run: found.run.id,
        node: found.node.node.clone(),
        text: body.text,
        key,
    };
    let sent = app.carry_out(&caller, message).await?;
    let view = SentView {
        message: sent.position,
        at: sent.at.to_string(),
        agent_id: found.address().to_string(),
    };
    Ok((StatusCode::ACCEPTED, Json(view)).into_response())
}

/// Which messages.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageQuery {
    /// Only those of which this became.
    state: Option<MessageStateName>,
    /// Where a part before ended.
    cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// The messages to an agent, in the order in which they were sent.
#[utoipa::path(get, path = "/v1/agents/{agent_id}/messages", params(("agent_id" = String, Path), MessageQuery),
    extensions(("x-right" = json!("read"))), responses((status = 200, body = MessagePage)))]
pub(crate) async fn list(
    State(app): State<App>,
    Reads(caller): Reads,
    OriginalUri(uri): OriginalUri,
    Segment(agent): Segment,
    Parameters(query): Parameters<MessageQuery>,
) -> Result<Response, Problem> {
    let found = caller.reach.agent(app.store(), &agent).await?;
    let mut page = page(query.cursor.as_deref(), query.limit)?;
    let (mut messages, mut next_cursor) = (Vec::new(), None);
    'pages: loop {
        let rows = app.store().messages(found.run.id, page).await?;
        let full = rows.len() == page.limit as usize;
        for row in rows {
            page.after = row.position;
            let view = MessageView::of(&row);
            let fits = query.state.is_none_or(|state| state == view.state);
            if fits && row.message.node == found.node.node {
                messages.push(view);
            }
            if messages.len() == page.limit as usize {
                next_cursor = Some(row.position.to_string());
                break 'pages;
            }
        }
        if !full {
            break;
        }
    }
    let cursor = next_cursor.clone();
    let body = MessagePage {
        messages,
        next_cursor,
    };
    Ok(listed(&uri, cursor.as_deref(), body))
}

/// Takes a message back that its agent has not read: no turn reads it from then on. One that was taken back before
/// is given as it is.
#[utoipa::path(delete, path = "/v1/agents/{agent_id}/messages/{message}",
    params(("agent_id" = String, Path), ("message" = u64, Path)),
    extensions(("x-right" = json!("direct"))), responses((status = 200, body = MessageView)))]
pub(crate) async fn withdraw(
    State(app): State<App>,
    Directs(caller): Directs,
    Segments(agent, message): Segments,
) -> Result<Json<MessageView>, Problem> {
    let found = caller.reach.agent(app.store(), &agent).await?;
    let message: u64 = message
        .parse()
        .map_err(|_error| wrong("message", "a message is named by its number"))?;
    let take_back = TakeBack {
        run: found.run.id,
        node: Some(found.node.node),
        message,
    };
    let withdrawn = app.carry_out(&caller, take_back).await?;
    Ok(Json(MessageView::of(&withdrawn)))
}
