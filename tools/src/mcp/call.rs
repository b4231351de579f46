//! One call of a server's tool.

use std::sync::Arc;

use interrupt_router::{Outcome, StopReason};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetExtensions as _, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde_json::Value;
use tokio::sync::oneshot;

use super::book::{Marked, Ongoing};
use super::cancel::{self, Heeded};
use super::connection::{Connection, words};
use super::content;
use super::error::McpError;
use super::resources;
use super::server::Server;
use super::tool::Means;
use crate::tool::{PartialOutput, Stopped, ToolCall, ToolContext, ToolError, ToolOutput};

/// What sending a call comes to.
type Called = Result<Outcome<ToolOutput, PartialOutput>, McpError>;

/// What a request comes to, as the library tells it.
pub(super) type Answer = Result<Result<ServerResult, ServiceError>, oneshot::error::RecvError>;

/// Makes a call, and ends it early when its scope is stopped immediately. Where the server wants a login, the call is
/// sent again after it: it was not taken before.
pub(super) async fn call(
    server: &Arc<Server>,
    means: &Means,
    call: &ToolCall,
    context: &ToolContext,
) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
    let mut time = 0;
    loop {
        let since = server.logins();
        let wanted = match once(server, means, call, context).await {
            Err(wanted @ McpError::LoginWanted { .. }) => wanted,
            ended => return ended.map_err(|error| failed(&error)),
        };
        time += 1;
        let _standing_still = context.limit.pause();
        tokio::select! {
            biased;
            reason = context.scope.stopped_now() => return Ok(never_sent(reason)),
            logged_in = server.log_in(wanted, since, time) => logged_in.map_err(|error| failed(&error))?,
        }
    }
}

async fn once(
    server: &Arc<Server>,
    means: &Means,
    call: &ToolCall,
    context: &ToolContext,
) -> Called {
    let connected = tokio::select! {
        biased;
        reason = context.scope.stopped_now() => return Ok(never_sent(reason)),
        connected = server.connection() => connected,
    };
    let connection = connected?;
    let ongoing = Ongoing::new(
        call.clone(),
        context.limit.clone(),
        context.scope.child(),
        Arc::clone(&context.progress),
    );
    let sending = InFlight::send(&connection, means, ongoing);
    let sent = tokio::select! {
        biased;
        reason = context.scope.stopped_now() => return Ok(never_sent(reason)),
        sent = sending => sent,
    };
    let Some(mut flight) = sent else {
        // It never had the call.
        let how = server.how_ended(&connection).await;
        return Err(server.unconnected(&how, &connection.stderr()));
    };
    // Stopped with the call's scope, and if no one can answer what the call asks.
    let scope = flight.ongoing.scope.clone();
    let answer = tokio::select! {
        biased; // What was answered counts as answered, even if a stop was asked for meanwhile.
        answer = flight.answer() => answer,
        reason = scope.stopped_now() => {
            let stopped = stop(server, flight, reason.clone()).await;
            return if context.scope.is_stopped_now() { stopped } else { unanswered(stopped, reason) };
        }
        _ended = connection.process_ended() => {
            return Err(server.ended(&connection).await);
        }
    };
    let output = finished(server, &connection, answer).await?;
    Ok(Outcome::Completed(output))
}

/// A call that ended because no one could answer what it asked is interrupted, regardless of what the server made of
/// that.
fn unanswered(stopped: Called, reason: StopReason) -> Called {
    Ok(match stopped? {
        Outcome::Completed(output) => Outcome::Interrupted {
            reason,
            partial: PartialOutput::returned(output.text),
        },
        interrupted @ Outcome::Interrupted { .. } => interrupted,
    })
}

/// Nothing of the call ever reached the server.
fn never_sent(reason: StopReason) -> Outcome<ToolOutput, PartialOutput> {
    Outcome::Interrupted {
        reason,
        partial: PartialOutput::returned(""),
    }
}

/// Why there is no result. The server has the call, unless it could not be connected or has refused it.
fn failed(error: &McpError) -> ToolError {
    let reason = words(error);
    match error {
        McpError::Unseen { .. } => ToolError::Unseen { reason },
        McpError::Unusable { .. } | McpError::LoginWanted { .. } | McpError::LoginFailed { .. } => {
            ToolError::Server { reason }
        }
    }
}

/// An answer, or none: then the connection has ended.
async fn finished(
    server: &Server,
    connection: &Connection,
    answer: Answer,
) -> Result<ToolOutput, McpError> {
    let most = server.shared.containment.config().kept_output;
    match answer {
        Ok(Ok(ServerResult::CallToolResult(result))) => Ok(content::output(&result, most)),
        Ok(Ok(ServerResult::CustomResult(other))) if content::is_result(&other.0) => {
            let result = content::without_unknown(other.0);
            let result = result.map_err(|error| server.unreadable("a call", error))?;
            Ok(content::output(&result, most))
        }
        Ok(Ok(other)) => match resources::words(&other) {
            Some(words) => Ok(ToolOutput::done(content::bounded(&words, most))),
            None => Err(server.unreadable("a call", "it is no result of a tool")),
        },
        Ok(Err(ServiceError::TransportClosed)) | Err(_) => Err(server.ended(connection).await),
        Ok(Err(error)) => Err(server.refused("a call", &error)),
    }
}

/// The call is to end: tells the server, and says what comes of that.
async fn stop(server: &Arc<Server>, mut flight: InFlight, reason: StopReason) -> Called {
    let heeded = cancel::cancel(server, &mut flight, &reason).await;
    let (connection, ongoing) = (Arc::clone(&flight.connection), Arc::clone(&flight.ongoing));
    flight.forget().await;
    let text = ongoing
        .last()
        .map(|last| format!("Its last progress was {last}."))
        .unwrap_or_default();
    let partial = |stopped, containment| PartialOutput {
        text: text.clone(),
        stopped,
        containment,
    };
    let partial = match heeded {
        Heeded::Answered(answer) => match *answer {
            Ok(Ok(result)) => {
                let output = finished(server, &connection, Ok(Ok(result))).await?;
                return Ok(Outcome::Completed(output));
            }
            Ok(Err(_)) | Err(_) => partial(Stopped::Returned, None),
        },
        Heeded::Quiet => partial(Stopped::Quiet, None),
        Heeded::Ignored { how } => {
            let why = format!("it did not stop a call when told to: {how}");
            match connection.end(&why).await {
                Some(end) => match end.report {
                    Some(report) => partial(Stopped::of(&report), Some(report)),
                    None => partial(left_behind("nobody saw how its process ended"), None),
                },
                None => partial(
                    left_behind(&format!(
                        "the server `{}` was told to stop it, and {how}",
                        server.name
                    )),
                    None,
                ),
            }
        }
    };
    Ok(Outcome::Interrupted { reason, partial })
}

fn left_behind(reason: &str) -> Stopped {
    Stopped::LeftBehind {
        reason: reason.to_owned(),
    }
}

/// A request that the server has.
pub(super) struct InFlight {
    pub(super) connection: Arc<Connection>,
    pub(super) ongoing: Arc<Ongoing>,
    pub(super) id: String,
    handle: Option<RequestHandle<RoleClient>>,
    answered: bool,
}

impl InFlight {
    /// Hands a request over; `None` where the connection has ended.
    async fn send(
        connection: &Arc<Connection>,
        means: &Means,
        ongoing: Arc<Ongoing>,
    ) -> Option<Self> {
        let arguments = &ongoing.call.arguments;
        let mut request = match means {
            Means::Tool(name) => {
                let mut params = CallToolRequestParams::new(name.clone());
                if let Value::Object(arguments) = arguments {
                    params = params.with_arguments(arguments.clone());
                }
                ClientRequest::CallToolRequest(CallToolRequest::new(params))
            }
            Means::Reading(reading) => reading.request(arguments),
        };
        request
            .extensions_mut()
            .insert(Marked(Arc::clone(&ongoing)));
        let options = PeerRequestOptions::no_options();
        let handle = connection
            .peer
            .send_cancellable_request(request, options)
            .await
            .ok()?;
        Some(Self {
            connection: Arc::clone(connection),
            ongoing,
            id: handle.id.to_string(),
            handle: Some(handle),
            answered: false,
        })
    }

    /// Waits for the answer. May be asked again after it was dropped, until it has come.
    pub(super) async fn answer(&mut self) -> Answer {
        let Some(handle) = &mut self.handle else {
            return std::future::pending().await;
        };
        let answer = (&mut handle.rx).await;
        self.answered = true;
        answer
    }

    /// The request's own id, as the protocol knows it.
    pub(super) fn request_id(&self) -> Option<rmcp::model::RequestId> {
        self.handle.as_ref().map(|handle| handle.id.clone())
    }

    /// Stops waiting for it, and lets the library forget it.
    async fn forget(mut self) {
        if let Some(handle) = self.handle.take().filter(|_handle| !self.answered) {
            let limit = cancel::FORGOTTEN_WITHIN;
            let _told = tokio::time::timeout(limit, handle.cancel(None)).await;
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let reason = cancel::ending("the call has ended");
        self.ongoing.scope.stop(reason);
        self.ongoing.set_known();
        let handle = self.handle.take().filter(|_handle| !self.answered);
        let (connection, id) = (Arc::clone(&self.connection), self.id.clone());
        let (Some(handle), Ok(runtime)) = (handle, tokio::runtime::Handle::try_current()) else {
            connection.book.over(&id, self.answered);
            return;
        };
        // The caller has gone without a word: tell the server all the same.
        runtime.spawn(async move {
            let limit = cancel::FORGOTTEN_WITHIN;
            let _told = tokio::time::timeout(limit, handle.cancel(None)).await;
            connection.book.over(&id, false);
        });
    }
}
