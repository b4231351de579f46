//! Telling a server to stop a call, and finding out whether it did.
//!
//! The protocol has no word for "it is stopped": a server is free to say nothing more of a call that it was told to
//! stop, and most do. So it is watched. One that answers the call has ended it. One that still answers a ping, and has
//! said nothing of the call for a while, counts as quiet. One that continues to report progress, or answers nothing,
//! ignores us; and so does one that sent a late result the last time, until it answers.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{StopMode, StopReason, StopSource};
use jiff::Timestamp;
use rmcp::model::{ClientNotification, ClientRequest, CustomNotification, PingRequest};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde_json::json;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::call::{Answer, InFlight};
use super::server::Server;

/// How long the library may take to forget a request.
pub(super) const FORGOTTEN_WITHIN: Duration = Duration::from_secs(1);

/// What a server did when it was told to stop a call.
pub(super) enum Heeded {
    /// It answered the call, or its connection ended.
    Answered(Box<Answer>),
    /// It took note, and nothing of the call has come since.
    Quiet,
    /// It continued, as far as can be seen.
    Ignored {
        /// What was seen.
        how: String,
    },
}

/// Why something is ended that no person has stopped.
pub(super) fn ending(why: &str) -> StopReason {
    StopReason {
        source: StopSource::System,
        mode: StopMode::Immediate,
        message: why.to_owned(),
        timestamp: Timestamp::now(),
    }
}

/// Tells the server to stop the call, and watches it for as long as its limit says.
pub(super) async fn cancel(
    server: &Arc<Server>,
    flight: &mut InFlight,
    reason: &StopReason,
) -> Heeded {
    let begun = Instant::now();
    let heeded = told_and_watched(server, flight, reason, begun).await;
    let (tool, took_ms) = (flight.ongoing.call.tool.as_str(), milliseconds(begun));
    let server = &server.name;
    match &heeded {
        Heeded::Answered(_) => {
            tracing::info!(%server, tool, took_ms, "an MCP server answered a call that was cancelled");
        }
        Heeded::Quiet => {
            tracing::info!(%server, tool, took_ms, "an MCP server was told to stop a call, and is quiet");
        }
        Heeded::Ignored { how } if flight.connection.process.is_some() => {
            tracing::warn!(%server, tool, took_ms, how, "an MCP server did not stop a call when told to, and is ended");
        }
        Heeded::Ignored { how } => {
            tracing::warn!(%server, tool, took_ms, how, "an MCP server did not stop a call when told to, and is left behind: it is not ours to end");
        }
    }
    heeded
}

async fn told_and_watched(
    server: &Arc<Server>,
    flight: &mut InFlight,
    reason: &StopReason,
    begun: Instant,
) -> Heeded {
    let limits = &server.config.limits;
    let until = begun + limits.cancel;
    let connection = Arc::clone(&flight.connection);
    let ongoing = Arc::clone(&flight.ongoing);
    let notice = notice(flight, reason);
    connection.book.told(&flight.id);
    let telling = async {
        let told = connection.peer.send_notification(notice).await;
        ongoing.set_known();
        told.ok()?;
        let ping = ClientRequest::PingRequest(PingRequest::default());
        let options = PeerRequestOptions::no_options();
        connection
            .peer
            .send_cancellable_request(ping, options)
            .await
            .ok()
    };
    let ping = tokio::select! {
        biased;
        answer = flight.answer() => return Heeded::Answered(Box::new(answer)),
        told = timeout_at(until, telling) => told,
    };
    match ping {
        Ok(Some(mut ping)) => {
            let heeded = watch(server, flight, &mut ping, until).await;
            if !matches!(heeded, Heeded::Quiet) {
                // No one waits for it any more.
                let _told = tokio::time::timeout(FORGOTTEN_WITHIN, ping.cancel(None)).await;
            }
            heeded
        }
        // The answer, or its absence for ever, is about to come.
        Ok(None) => match timeout_at(until, flight.answer()).await {
            Ok(answer) => Heeded::Answered(Box::new(answer)),
            Err(_late) => ignored("it could not be told"),
        },
        Err(_late) => ignored("it took nothing more from us"),
    }
}

/// Watches a server that was told.
async fn watch(
    server: &Server,
    flight: &mut InFlight,
    ping: &mut RequestHandle<RoleClient>,
    until: Instant,
) -> Heeded {
    let limits = &server.config.limits;
    let connection = Arc::clone(&flight.connection);
    let told_at = Instant::now();
    let mut heard = flight.ongoing.heard();
    let mut answered_ping_at = None;
    loop {
        let last = heard.borrow_and_update().filter(|at| *at > told_at);
        // If silence did not mean a stop before, it does not now.
        let trusted = !connection.book.ignores();
        let quiet_at = answered_ping_at
            .filter(|_at| trusted)
            .map(|at: Instant| last.map_or(at, |last| last.max(at)) + limits.quiet);
        tokio::select! {
            biased;
            answer = flight.answer() => return Heeded::Answered(Box::new(answer)),
            _end = connection.process_ended() => {
                return Heeded::Answered(Box::new(Ok(Err(ServiceError::TransportClosed))));
            }
            // Any answer to a ping shows that it listens, a refusal too.
            _pong = &mut ping.rx, if answered_ping_at.is_none() => {
                answered_ping_at = Some(Instant::now());
            }
            // The sender lives as long as the call.
            _changed = heard.changed() => {}
            () = sleep_until(quiet_at.unwrap_or(until)), if quiet_at.is_some_and(|at| at <= until) => {
                return Heeded::Quiet;
            }
            () = sleep_until(until) => {
                return ignored(match (answered_ping_at, last) {
                    (None, _) => "it did not even answer a ping",
                    (Some(_), Some(_)) => "it went on to tell of progress",
                    (Some(_), None) => "it had gone on after an earlier silence",
                });
            }
        }
    }
}

fn ignored(how: &str) -> Heeded {
    Heeded::Ignored {
        how: how.to_owned(),
    }
}

/// `notifications/cancelled`. The library's own form of it forgets the request at once; this one does not, so that the
/// answer is still seen.
fn notice(flight: &InFlight, reason: &StopReason) -> ClientNotification {
    let params = json!({"requestId": flight.request_id(), "reason": reason.message});
    let method = "notifications/cancelled";
    ClientNotification::CustomNotification(CustomNotification::new(method, Some(params)))
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
