//! The feed and the commands over a WebSocket: the loop of each socket handles one thing at a time.

mod command;
mod frame;
mod frame_type;
mod subscriptions;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use control::Caller;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use interrupts::store::StoreError;
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior};
use tungstenite::error::ProtocolError;

use crate::access::Proof;
use crate::app::App;
use crate::metrics::Transport;
use crate::problem::{Code, Problem};
use command::carry_out;
use frame::{Outgoing, read_frame};
pub(crate) use frame_type::FrameType;
use subscriptions::{SocketMessage, Subscriptions};

/// This subprotocol; a client that names none gets it too.
const SUBPROTOCOL: &str = "irq.v1.json";
/// The server is stopping: come back.
const DRAINING: u16 = 1001;
/// A frame is malformed.
const PROTOCOL: u16 = 1002;
/// A text is no UTF-8.
const NO_TEXT: u16 = 1007;
/// The credential is no longer valid.
const POLICY: u16 = 1008;
/// A message is longer than is accepted.
const TOO_LONG: u16 = 1009;
/// How long a client that is still sending unread data has to read why. If its connection were closed sooner, it would
/// be reset, and the reason lost.
const PARTING: Duration = Duration::from_secs(1);
/// How long one message may take to be written to a client that does not read.
const WRITE_TIME: Duration = Duration::from_secs(20);
/// How long the feed is left alone after the store has failed.
const RETRY: Duration = Duration::from_millis(500);
/// After how many heartbeats without a word from the client it counts as gone.
const SILENT_BEATS: u32 = 3;

/// Answers the upgrade, and serves the socket from then on.
pub(crate) fn open_socket(app: App, by: (Caller, Proof), upgrade: WebSocketUpgrade) -> Response {
    let most = app.config.limits.message_bytes;
    let outliving = app.outliving.clone();
    upgrade
        .protocols([SUBPROTOCOL])
        .max_message_size(most)
        .max_frame_size(most)
        .on_upgrade(move |socket| {
            let session = Session::new(app, by, socket);
            outliving.track_future(session.serve())
        })
}

/// One socket.
struct Session {
    app: App,
    caller: Caller,
    proof: Proof,
    socket: WebSocket,
    subscriptions: Subscriptions,
    pace: DefaultDirectRateLimiter,
    silent_beats: u32,
    /// When to read the feed again after the store has failed.
    retry_at: Option<Instant>,
}

/// What happens to a socket.
enum Happening {
    /// The client sent something, or is gone.
    Received(Option<Result<Message, axum::Error>>),
    /// The feed has something for the client.
    Told(Result<SocketMessage, StoreError>),
    /// A heartbeat is due.
    Beat,
    /// The server is asked to stop.
    Draining,
    /// The token that opened it is no longer valid.
    Void,
}

/// Begins something no sooner than at a time. Dropped before that, it has not begun.
async fn not_before<T>(at: Option<Instant>, next: impl Future<Output = T>) -> T {
    if let Some(at) = at {
        tokio::time::sleep_until(at).await;
    }
    next.await
}

/// Whether a socket goes on.
enum Then {
    GoOn,
    End,
}

impl Session {
    fn new(app: App, (caller, proof): (Caller, Proof), socket: WebSocket) -> Self {
        let limits = &app.config.limits;
        let quota = Quota::per_second(limits.requests_per_second).allow_burst(limits.request_burst);
        Self {
            subscriptions: Subscriptions::new(Arc::clone(&app.feed), limits.subscriptions),
            pace: RateLimiter::direct(quota),
            app,
            caller,
            proof,
            socket,
            silent_beats: 0,
            retry_at: None,
        }
    }

    async fn serve(mut self) {
        let _counted = self.app.metrics.reader(Transport::Socket);
        let heartbeat = self.app.feed.heartbeat();
        let mut beats = tokio::time::interval_at(Instant::now() + heartbeat, heartbeat);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let draining = self.app.draining.clone();
        let stay = self.proof.stays(&self.app);
        self.app.feed.catches_up().await;
        let welcome =
            Outgoing::welcome(&self.app.config.instance, self.app.feed.latest(), heartbeat);
        if self.send(welcome).await.is_err() {
            return;
        }
        loop {
            let happening = tokio::select! {
                biased; // Neither a stop of the server nor a client's message may queue behind a busy feed.
                () = draining.cancelled() => Happening::Draining,
                () = stay.is_over() => Happening::Void,
                received = self.socket.recv() => Happening::Received(received),
                _ = beats.tick() => Happening::Beat,
                told = not_before(self.retry_at, self.subscriptions.next()) => Happening::Told(told),
            };
            match self.handle(happening).await {
                Ok(Then::GoOn) => {}
                Ok(Then::End) | Err(Gone) => return,
            }
        }
    }

    async fn handle(&mut self, happening: Happening) -> Result<Then, Gone> {
        match happening {
            Happening::Draining => {
                let reason = json!({"retry_after_ms": 2_000}).to_string();
                self.close(DRAINING, reason).await;
                Ok(Then::End)
            }
            Happening::Void => Ok(self.end_of_stay().await),
            Happening::Beat => {
                self.silent_beats += 1;
                if self.silent_beats > SILENT_BEATS {
                    return Ok(Then::End);
                }
                self.write(Message::Ping(Vec::new().into())).await?;
                Ok(Then::GoOn)
            }
            Happening::Told(Ok(told)) => {
                self.retry_at = None;
                for frame in told.frames() {
                    self.send(frame).await?;
                }
                Ok(Then::GoOn)
            }
            Happening::Told(Err(error)) => {
                let problem = crate::problem::Problem::from(error);
                self.send(Outgoing::error(None, &problem)).await?;
                // The positions are kept; the next try may succeed. Meanwhile the client is heard.
                self.retry_at = Some(Instant::now() + RETRY);
                Ok(Then::GoOn)
            }
            Happening::Received(None) => Ok(Then::End),
            Happening::Received(Some(Err(error))) => {
                if let Some((code, reason)) = unreadable(error) {
                    self.close(code, reason).await;
                    tokio::time::sleep(PARTING).await;
                }
                Ok(Then::End)
            }
            Happening::Received(Some(Ok(message))) => self.received(message).await,
        }
    }

    async fn received(&mut self, message: Message) -> Result<Then, Gone> {
        self.silent_beats = 0;
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => {
                let problem = Problem::new(
                    Code::MediaType,
                    "the frame is binary",
                    "send text frames with JSON",
                );
                self.send(Outgoing::error(None, &problem)).await?;
                return Ok(Then::GoOn);
            }
            Message::Ping(_) | Message::Pong(_) => return Ok(Then::GoOn),
            Message::Close(_) => return Ok(Then::End),
        };
        if self.pace.check().is_err() {
            let problem = Problem::new(
                Code::RateLimited,
                "you send faster than is allowed",
                "wait a second",
            );
            self.send(Outgoing::error(None, &problem)).await?;
            return Ok(Then::GoOn);
        }
        // A command is carried out with the token as it is now, as over REST.
        if !self.proof.may_still(&self.app).await {
            return Ok(self.end_of_stay().await);
        }
        let replies = match read_frame(text.as_bytes(), self.app.config.limits.json_depth) {
            Ok(frame) => {
                let caller = &self.caller;
                carry_out(&self.app, caller, &mut self.subscriptions, frame).await
            }
            Err((id, problem)) => vec![Outgoing::error(id, &problem)],
        };
        for reply in replies {
            self.send(reply).await?;
        }
        Ok(Then::GoOn)
    }

    /// Says that the token which opened the socket is no longer valid.
    async fn end_of_stay(&mut self) -> Then {
        self.close(POLICY, "the token does not hold any more".to_owned())
            .await;
        Then::End
    }

    async fn send(&mut self, frame: Outgoing) -> Result<(), Gone> {
        self.write(Message::Text(frame.into_text().into())).await
    }

    /// Writes within a time limit: a client that does not read must not keep what is written for it for ever.
    async fn write(&mut self, message: Message) -> Result<(), Gone> {
        match tokio::time::timeout(WRITE_TIME, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }

    async fn close(&mut self, code: u16, reason: String) {
        let frame = CloseFrame {
            code,
            reason: reason.into(),
        };
        // A client that is already gone needs no farewell.
        if self.write(Message::Close(Some(frame))).await.is_ok() {
            let farewell = async {
                while let Some(Ok(message)) = self.socket.recv().await {
                    if matches!(message, Message::Close(_)) {
                        return;
                    }
                }
            };
            let _answered = tokio::time::timeout(Duration::from_secs(1), farewell).await;
        }
    }
}

/// The code to close a socket with that cannot be read any more; none if the connection itself is gone.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all the other errors are of a connection that takes no farewell"
)]
fn unreadable(error: axum::Error) -> Option<(u16, String)> {
    let error = error.into_inner().downcast::<tungstenite::Error>().ok()?;
    let code = match *error {
        tungstenite::Error::Capacity(_) => TOO_LONG,
        tungstenite::Error::Utf8(_) => NO_TEXT,
        tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => return None,
        tungstenite::Error::Protocol(_) => PROTOCOL,
        _ => return None,
    };
    // The reason in a close frame must be short.
    let reason: String = error.to_string().chars().take(100).collect();
    Some((code, reason))
}

/// The client is gone.
#[derive(Debug)]
struct Gone;

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::{RETRY, not_before};

    #[tokio::test(start_paused = true)]
    async fn a_feed_that_is_left_alone_holds_up_nothing_else() {
        let begun = Instant::now();
        let retry_at = Some(begun + RETRY);
        tokio::select! {
            () = not_before(retry_at, ready(())) => panic!("the feed is left alone for a while"),
            () = sleep(Duration::from_millis(10)) => {}
        }
        assert!(begun.elapsed() < RETRY);
        not_before(retry_at, ready(())).await;
        assert_eq!(begun.elapsed(), RETRY);
    }
}
