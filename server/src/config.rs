//! What a server is given.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use interrupts::Notifier;
use interrupts::bus::Bus;
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::USUAL_CLAIM;
use interrupts::policy::Policy;
use interrupts::store::Store;
use interrupts::{Clock, SystemClock};
use jiff::SignedDuration;
use tokio_rustls::TlsAcceptor;

use crate::launcher::{NoLauncher, RunLauncher};
use crate::metrics::StoreTimes;
use crate::tls::TlsIdentity;

/// Whether the server may be reached from other machines.
#[derive(Debug, Clone)]
pub enum Remote {
    /// Only from this machine.
    Refused,
    /// From others too, through a proxy that speaks TLS with them. At least one token must exist.
    BehindProxy,
    /// From others too, which the server itself speaks TLS with. At least one token must exist.
    OverTls(TlsIdentity),
}

impl Remote {
    /// Whether browsers reach it over TLS.
    pub(crate) const fn is_secure(&self) -> bool {
        match self {
            Self::Refused => false,
            Self::BehindProxy | Self::OverTls(_) => true,
        }
    }

    /// What accepts TLS connections, if the server does that itself.
    pub(crate) fn acceptor(&self) -> Option<TlsAcceptor> {
        match self {
            Self::Refused | Self::BehindProxy => None,
            Self::OverTls(identity) => Some(identity.acceptor()),
        }
    }
}

/// What a server accepts of one caller, and how long it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLimits {
    /// The most bytes of a request's body.
    pub body_bytes: usize,
    /// The most bytes of a request's headers.
    pub head_bytes: usize,
    /// The deepest nesting of a request's JSON.
    pub json_depth: usize,
    /// How long the head of a request may take.
    pub head_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long an answer may take to begin.
    pub answer_time: Duration,
    /// How long a client may leave everything that is written for it unread.
    pub write_time: Duration,
    /// The most open connections.
    pub connections: usize,
    /// The most requests of one caller that are under way at once, streams and sockets apart.
    pub requests_at_once: usize,
    /// The most requests in a second, for each caller.
    pub requests_per_second: NonZeroU32,
    /// The most requests at once, for each caller.
    pub request_burst: NonZeroU32,
    /// The most failed login attempts in a minute, for each address.
    pub failures_per_minute: NonZeroU32,
    /// The most bytes of a message over a WebSocket.
    pub message_bytes: usize,
    /// The most subscriptions of a WebSocket.
    pub subscriptions: usize,
    /// How far a reader of the feed that has kept up may fall behind before it gets a gap, in events. A reader that
    /// comes back with a position of its own reads everything that is kept after it.
    pub feed_lag: u64,
    /// How often a quiet feed sends a sign of life.
    pub heartbeat: Duration,
    /// How often the feed checks the store without a notification.
    pub feed_poll: Duration,
    /// How long a claim lasts if the caller does not say.
    pub claim: SignedDuration,
    /// How long a session of the page lasts.
    pub session: SignedDuration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            head_bytes: 16 << 10,
            json_depth: 64,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(15),
            answer_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            connections: 16_384,
            requests_at_once: 64,
            requests_per_second: NonZeroU32::new(200).unwrap_or(NonZeroU32::MIN),
            request_burst: NonZeroU32::new(400).unwrap_or(NonZeroU32::MIN),
            failures_per_minute: NonZeroU32::new(30).unwrap_or(NonZeroU32::MIN),
            message_bytes: 64 << 10,
            subscriptions: 32,
            feed_lag: 20_000,
            heartbeat: Duration::from_secs(15),
            feed_poll: Duration::from_millis(25),
            claim: USUAL_CLAIM,
            session: SignedDuration::from_hours(12),
        }
    }
}

/// What a server is given.
#[derive(Clone)]
pub struct ServerConfig {
    /// The store for everything.
    pub store: Arc<dyn Store>,
    /// What an operator should know about the store, as it was when it was opened.
    pub store_notice: Option<String>,
    /// How long its writes take: the code that opens the store records that there.
    pub store_times: Arc<StoreTimes>,
    /// Notifies the processes that execute runs.
    pub notifier: Arc<dyn Notifier>,
    /// The broker that events are published to and commands come from.
    pub bus: Option<Arc<dyn Bus>>,
    /// The catalogues of this program's workflows; the first is for runs that name no workflow. The store has the
    /// catalogues of all others.
    pub catalogues: Vec<SharedCatalogue>,
    /// The policy for questions of workers: how long one waits, and which ones are decided without a person.
    pub policy: Arc<Policy>,
    /// Executes runs in this process.
    pub launcher: Arc<dyn RunLauncher>,
    /// The source of the time. Deadlines are judged by the store's own clock.
    pub clock: Arc<dyn Clock>,
    /// The name of this installation in its events.
    pub instance: String,
    /// Names under which browsers may reach it, besides `localhost` and addresses.
    pub hosts: Vec<String>,
    /// Whether other machines may reach it.
    pub remote: Remote,
    /// How long requests and streams may take to end when the server is asked to stop.
    pub drain_time: Duration,
    /// What it accepts of one caller.
    pub limits: ServerLimits,
}

impl ServerConfig {
    /// A server over a store, for this machine alone, that executes no runs.
    pub fn new(store: Arc<dyn Store>, notifier: Arc<dyn Notifier>) -> Self {
        Self {
            store,
            store_notice: None,
            store_times: Arc::default(),
            notifier,
            bus: None,
            catalogues: Vec::new(),
            policy: Arc::default(),
            launcher: Arc::new(NoLauncher),
            clock: Arc::new(SystemClock),
            instance: "local".to_owned(),
            hosts: Vec::new(),
            remote: Remote::Refused,
            drain_time: Duration::from_secs(10),
            limits: ServerLimits::default(),
        }
    }
}
