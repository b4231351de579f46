//! A broker that is a NATS server with JetStream.

use std::future::IntoFuture as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, LastRawMessageErrorKind, RetentionPolicy, StorageType,
};
use async_nats::jetstream::{Context, context::ContextBuilder};
use async_nats::{Client, ConnectOptions, Event, HeaderMap, Message, Subscriber};
use async_trait::async_trait;
use futures_util::StreamExt as _;
use interrupts::bus::{Bus, BusAnswer, BusCommand, BusError, BusEvent};
use interrupts::store::Consumer;
use tokio::sync::Notify;

use crate::location::{BusLocation, Login};
use crate::subject;

/// The stream of all events.
const STREAM: &str = "IRQ_EVENTS";
/// For how long the broker detects a repeated event: longer than a sent event may be in transit.
const KNOWN_AGAIN: Duration = Duration::from_secs(300);
/// How long the broker may take to acknowledge.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// How long the first connection is waited for.
const FIRST_CONNECTION: Duration = Duration::from_secs(2);
/// The servers that share a tenant's commands.
const QUEUE: &str = "irq";
/// The type of what is published.
const MEDIA_TYPE: &str = "application/cloudevents+json";

/// Why a broker cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The file of credentials cannot be read.
    #[error("the credentials in {} cannot be read", path.display())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The client refuses to begin.
    #[error("the NATS client does not start: {reason}")]
    Client {
        /// The client's own reason.
        reason: String,
    },
}

/// A NATS server with JetStream, or a cluster of them.
pub struct NatsBus {
    location: BusLocation,
    client: Client,
    jetstream: Context,
    commands: tokio::sync::Mutex<Subscriber>,
    /// Whether the stream was there when it was last checked.
    is_prepared: AtomicBool,
    link: Arc<Link>,
}

/// The state of the connection.
#[derive(Default)]
struct Link {
    /// Why it last failed.
    trouble: Mutex<Option<String>>,
    /// Notified when it is lost: no acknowledgement comes for what was in transit.
    lost: Notify,
}

impl Link {
    /// Remembers what happened; it is reported when a caller waits for the broker, and not with each attempt to
    /// connect.
    fn note(&self, event: &Event) {
        match event {
            Event::Connected => self.set(None),
            Event::Disconnected | Event::Closed => {
                self.set(Some("the connection is lost".to_owned()));
                self.lost.notify_waiters();
            }
            Event::ServerError(error) => self.set(Some(error.to_string())),
            Event::ClientError(error) => self.set(Some(error.to_string())),
            Event::SlowConsumer(_) => {
                tracing::warn!("commands come faster than they are carried out; some are lost");
            }
            Event::LameDuckMode | Event::Draining => {}
        }
    }

    fn set(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Why the connection last failed.
    fn trouble(&self) -> String {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble
            .clone()
            .unwrap_or_else(|| "not connected".to_owned())
    }
}

impl NatsBus {
    /// Connects to a broker. It need not be there yet: after two seconds this returns, and the client connects as soon
    /// as the broker is there, and again after each loss.
    ///
    /// # Errors
    ///
    /// [`ConnectError`] if it could never be connected to.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it is not connected to.
    pub async fn connect(location: BusLocation) -> Result<Self, ConnectError> {
        let link = Arc::default();
        let options = options(&location, &link).await?;
        let client = options.connect(location.servers()).await;
        let client = client.map_err(|error| refused(&error))?;
        let jetstream = ContextBuilder::new()
            .timeout(ANSWER_TIME)
            .ack_timeout(ANSWER_TIME)
            .build(client.clone());
        let subject = subject::commands(location.tenant());
        let commands = client.queue_subscribe(subject, QUEUE.to_owned()).await;
        // What the client sends first is sent once it is connected.
        let _connected = tokio::time::timeout(FIRST_CONNECTION, client.flush()).await;
        Ok(Self {
            commands: commands.map_err(|error| refused(&error))?.into(),
            location,
            client,
            jetstream,
            is_prepared: AtomicBool::new(false),
            link,
        })
    }

    fn away(&self) -> BusError {
        BusError::Away {
            reason: self.link.trouble(),
        }
    }

    fn check_connection(&self) -> Result<(), BusError> {
        // What the client gets while it is not connected would wait in its memory.
        match self.client.connection_state() {
            State::Connected => Ok(()),
            State::Pending | State::Disconnected => Err(self.away()),
        }
    }

    /// Sends an event once.
    async fn send(&self, subject: &str, event: &BusEvent) -> Result<(), PublishErrorKind> {
        let mut headers = HeaderMap::new();
        headers.insert("Content-Type", MEDIA_TYPE);
        let message = PublishMessage::build()
            .headers(headers)
            .message_id(format!("{}{}", self.location.tenant(), event.id))
            // Stores with other tenants publish to the same stream. The acknowledgement of another stream that takes
            // these subjects too does not count.
            .expected_stream(STREAM)
            .payload(event.json.clone().into());
        // From here on every loss of the connection is noticed.
        let lost = self.link.lost.notified();
        let sent = self
            .jetstream
            .send_publish(subject.to_owned(), message)
            .await;
        let acknowledged = sent.map_err(|error| self.noted(&error))?.into_future();
        tokio::select! {
            acknowledged = acknowledged => match acknowledged {
                Ok(_acknowledged) => Ok(()),
                Err(error) => Err(self.noted(&error)),
            },
            () = lost => Err(PublishErrorKind::BrokenPipe),
        }
    }

    /// Remembers the client's error as text, and returns its kind.
    fn noted(&self, error: &PublishError) -> PublishErrorKind {
        self.link.set(Some(error.to_string()));
        error.kind()
    }

    fn explained(&self, kind: PublishErrorKind, length: usize) -> BusError {
        match kind {
            PublishErrorKind::MaxPayloadExceeded => BusError::TooLarge { length },
            PublishErrorKind::TimedOut
            | PublishErrorKind::BrokenPipe
            | PublishErrorKind::MaxAckPending
            | PublishErrorKind::StreamNotFound => self.away(),
            PublishErrorKind::WrongLastMessageId
            | PublishErrorKind::WrongLastSequence
            | PublishErrorKind::Other => BusError::Refused {
                reason: self.link.trouble(),
            },
        }
    }
}

/// How to connect.
async fn options(location: &BusLocation, link: &Arc<Link>) -> Result<ConnectOptions, ConnectError> {
    // The library uses the one that is installed.
    let _installed = tls::provider();
    let link = Arc::clone(link);
    let mut options = ConnectOptions::new()
        .name("irq")
        .retry_on_initial_connect()
        .request_timeout(Some(ANSWER_TIME))
        .require_tls(location.is_encrypted())
        .event_callback(move |event| {
            link.note(&event);
            async {}
        });
    if let Some(authorities) = location.authorities() {
        options = options.add_root_certificates(authorities.to_owned());
    }
    options = match location.login() {
        Login::Nothing => options,
        Login::Token(token) => options.token(token.clone()),
        Login::Password { user, password } => {
            options.user_and_password(user.clone(), password.clone())
        }
    };
    if let Some(path) = location.credentials() {
        let read = options.credentials_file(path).await;
        options = read.map_err(|source| ConnectError::Credentials {
            path: path.to_owned(),
            source,
        })?;
    }
    Ok(options)
}

fn refused(error: &impl std::fmt::Display) -> ConnectError {
    ConnectError::Client {
        reason: error.to_string(),
    }
}

#[async_trait]
impl Bus for NatsBus {
    fn place(&self) -> String {
        self.location.to_string()
    }

    fn consumer(&self) -> &Consumer {
        self.location.cursor()
    }

    async fn prepare(&self) -> Result<(), BusError> {
        self.check_connection()?;
        // A stream that is there keeps the limits that it was created with.
        let made = self.jetstream.get_or_create_stream(Config {
            name: STREAM.to_owned(),
            description: Some("What happens in Interrupt Router".to_owned()),
            subjects: vec![subject::ALL_EVENTS.to_owned()],
            retention: RetentionPolicy::Limits,
            discard: DiscardPolicy::Old,
            storage: StorageType::File,
            max_age: self.location.max_age(),
            num_replicas: self.location.replicas(),
            duplicate_window: KNOWN_AGAIN,
            ..Config::default()
        });
        let made = made.await.map_err(|error| BusError::Refused {
            reason: error.to_string(),
        });
        self.is_prepared.store(made.is_ok(), Ordering::Relaxed);
        made.map(|_stream| ())
    }

    async fn publish(&self, event: &BusEvent) -> Result<(), BusError> {
        self.check_connection()?;
        if !self.is_prepared.load(Ordering::Relaxed) {
            self.prepare().await?;
        }
        let subject = subject::of_event(self.location.tenant(), event);
        let mut sent = self.send(&subject, event).await;
        if sent == Err(PublishErrorKind::StreamNotFound) {
            // The broker has lost everything, or another broker has replaced it.
            self.prepare().await?;
            sent = self.send(&subject, event).await;
        }
        sent.map_err(|kind| self.explained(kind, event.json.len()))
    }

    async fn last(&self) -> Result<Option<String>, BusError> {
        self.prepare().await?;
        let refused = |reason: String| BusError::Refused { reason };
        let stream = self.jetstream.get_stream_no_info(STREAM).await;
        let stream = stream.map_err(|error| refused(error.to_string()))?;
        let subject = subject::events(self.location.tenant());
        match stream.get_last_raw_message_by_subject(&subject).await {
            Ok(last) => Ok(String::from_utf8(last.payload.to_vec()).ok()),
            Err(error) => match error.kind() {
                LastRawMessageErrorKind::NoMessageFound => Ok(None),
                LastRawMessageErrorKind::InvalidSubject
                | LastRawMessageErrorKind::JetStream(_)
                | LastRawMessageErrorKind::Other => Err(refused(error.to_string())),
            },
        }
    }

    async fn command(&self) -> Option<BusCommand> {
        let message = self.commands.lock().await.next().await?;
        Some(command(message))
    }

    async fn answer(&self, reply: &str, answer: BusAnswer) -> Result<(), BusError> {
        let mut headers = HeaderMap::new();
        headers.insert("Content-Type", answer.media_type);
        if answer.status >= 400 {
            // The headers of services over NATS, so that their tools show the error.
            headers.insert("Nats-Service-Error-Code", answer.status.to_string());
            headers.insert("Nats-Service-Error", "see the problem document");
        }
        let body = answer.body.into();
        let sent = self
            .client
            .publish_with_headers(reply.to_owned(), headers, body);
        sent.await.map_err(|error| BusError::Refused {
            reason: error.to_string(),
        })
    }

    async fn close(&self) {
        // If the client has ended, there is nothing to close.
        let _closed = self.commands.lock().await.drain().await;
    }
}

fn command(message: Message) -> BusCommand {
    let headers = message.headers.iter().flat_map(|headers| headers.iter());
    let headers = headers.flat_map(|(name, values)| {
        let name = name.to_string();
        values
            .iter()
            .map(move |value| (name.clone(), value.as_str().to_owned()))
    });
    let reply = message.reply.map(|reply| reply.to_string());
    BusCommand {
        verb: subject::verb(&message.subject).to_owned(),
        headers: headers.collect(),
        body: message.payload.to_vec(),
        reply: reply.filter(|reply| subject::takes_answers(reply)),
    }
}
