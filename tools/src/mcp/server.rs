//! One server, over all of its lives: it is started when it is needed, and started again when it died.

use std::collections::VecDeque;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::service::{Peer, RoleClient, ServiceError};
use tokio::sync::watch;
use tokio::time::Instant;

use super::config::{McpServerConfig, ServerTransport};
use super::connection::{Connection, LONGEST_REASON, words};
use super::content::bounded;
use super::elicitation::Elicitor;
use super::error::McpError;
use super::login::{LoginGuide, TokenMiddleware};
use super::name::ServerName;
use super::offer::{self, Tools};
use super::process::ProcessEnd;
use super::reply;
use super::transport;
use crate::containment::Containment;
use crate::counts::ToolCounter;

/// Within which time the deaths of a server are counted.
const DEATHS_WITHIN: Duration = Duration::from_secs(10 * 60);

/// What all servers share.
pub(super) struct ServerEnvironment {
    pub(super) containment: Containment,
    pub(super) elicitor: Arc<dyn Elicitor>,
    pub(super) counter: Arc<dyn ToolCounter>,
    /// Where those that are programs start.
    pub(super) directory: PathBuf,
    /// Shows a person the page of a login.
    pub(super) guide: Arc<dyn LoginGuide>,
    /// Keeps what logins gave.
    pub(super) logins: Option<PathBuf>,
    /// Counts the changes of the lists of tools.
    pub(super) changes: watch::Sender<u64>,
}

/// A server.
pub(super) struct Server {
    pub(super) name: ServerName,
    pub(super) config: McpServerConfig,
    pub(super) shared: Arc<ServerEnvironment>,
    /// What its requests go through, where it is on the network.
    pub(super) gate: Option<TokenMiddleware>,
    /// `None` once it is closed.
    state: tokio::sync::Mutex<Option<ServerState>>,
    listed: Mutex<Tools>,
    /// The list is being read; what changes meanwhile is read again.
    listing: tokio::sync::Mutex<()>,
    list_is_old: AtomicBool,
}

#[derive(Default)]
struct ServerState {
    connection: Option<Arc<Connection>>,
    deaths: VecDeque<Instant>,
    /// The end of its standard error when it died last.
    last_words: String,
}

impl Server {
    pub(super) fn new(
        name: ServerName,
        config: McpServerConfig,
        shared: Arc<ServerEnvironment>,
    ) -> Arc<Self> {
        let gate = match &config.reach {
            ServerTransport::Http(address) => {
                let (folder, guide) = (shared.logins.as_deref(), Arc::clone(&shared.guide));
                Some(TokenMiddleware::of(&name, address, folder, guide))
            }
            ServerTransport::Process(_) => None,
        };
        Arc::new(Self {
            name,
            config,
            shared,
            gate,
            state: tokio::sync::Mutex::new(Some(ServerState::default())),
            listed: Mutex::default(),
            listing: tokio::sync::Mutex::default(),
            list_is_old: AtomicBool::new(false),
        })
    }

    pub(super) fn tools(&self) -> Tools {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.clone()
    }

    /// The connection that there is, or a new one.
    pub(super) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, McpError> {
        let mut state = self.state.lock().await;
        let Some(state) = &mut *state else {
            return Err(self.unusable("was closed", ""));
        };
        if let Some(connection) = state.connection.take() {
            if connection.is_alive() {
                state.connection = Some(Arc::clone(&connection));
                return Ok(connection);
            }
            let by_itself = !connection.was_given_up();
            let _ended = connection.end("its connection broke off").await;
            if by_itself {
                state.deaths.push_back(Instant::now());
                state.last_words = connection.stderr();
            }
        }
        self.may_start(state)?;
        let connection = self.admitted(state).await?;
        state.connection = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// A new connection whose tools are listed, with a login where the server wants one.
    async fn admitted(
        self: &Arc<Self>,
        state: &mut ServerState,
    ) -> Result<Arc<Connection>, McpError> {
        let mut time = 0;
        loop {
            let since = self.logins();
            match self.greeted(state).await {
                Ok(connection) => return Ok(connection),
                Err(wanted) => {
                    time += 1;
                    self.log_in(wanted, since, time).await?;
                }
            }
        }
    }

    async fn greeted(
        self: &Arc<Self>,
        state: &mut ServerState,
    ) -> Result<Arc<Connection>, McpError> {
        let opened = Connection::open(self).await;
        let connection =
            Arc::new(opened.inspect_err(|_error| state.deaths.push_back(Instant::now()))?);
        tracing::info!(server = %self.name, "an MCP server is connected");
        let reading = self.listing.lock().await;
        let listed = self
            .read_list(&connection.peer, || connection.stderr())
            .await;
        drop(reading);
        if let Err(error) = listed {
            let _ended = connection.end("its tools could not be listed").await;
            state.deaths.push_back(Instant::now());
            return Err(error);
        }
        Ok(connection)
    }

    /// Counts the logins to it.
    pub(super) fn logins(&self) -> u64 {
        self.gate.as_ref().map_or(0, TokenMiddleware::logins)
    }

    /// Does what it demands before it takes a request, as [`TokenMiddleware::answer`] says; any other error stays.
    pub(super) async fn log_in(
        &self,
        error: McpError,
        since: u64,
        time: u32,
    ) -> Result<(), McpError> {
        match (error, &self.gate) {
            (
                McpError::LoginWanted {
                    challenge, scopes, ..
                },
                Some(gate),
            ) => gate.answer(challenge, scopes, since, time).await,
            (error, _) => Err(error),
        }
    }

    /// A server on the network may be reached as often as it takes; a program that keeps dying is left dead.
    fn may_start(&self, state: &mut ServerState) -> Result<(), McpError> {
        let now = Instant::now();
        while state
            .deaths
            .front()
            .is_some_and(|at| now.duration_since(*at) > DEATHS_WITHIN)
        {
            state.deaths.pop_front();
        }
        let is_process = matches!(self.config.reach, ServerTransport::Process(_));
        match state.deaths.front() {
            Some(first) if is_process && state.deaths.len() > self.config.limits.restarts => {
                let after = DEATHS_WITHIN.saturating_sub(now.duration_since(*first));
                let problem = format!(
                    "died {} times within ten minutes and is not started again before {after:?} have passed; look at its command, or raise `limits.restarts`",
                    state.deaths.len()
                );
                Err(self.unusable(problem, &state.last_words))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Closes it for good.
    pub(super) async fn close(&self) -> Option<ProcessEnd> {
        let state = self.state.lock().await.take()?;
        state.connection?.close(self).await
    }

    /// Reads the list again because the server says that it changed. One reader is enough, however often it says so.
    pub(super) async fn list_again(&self, peer: &Peer<RoleClient>) {
        self.list_is_old.store(true, Ordering::SeqCst);
        let Ok(_reading) = self.listing.try_lock() else {
            return;
        };
        while self.list_is_old.swap(false, Ordering::SeqCst) {
            if let Err(error) = self.read_list(peer, String::new).await {
                tracing::warn!(server = %self.name, %error, "the changed tools of an MCP server could not be listed");
                return;
            }
        }
    }

    /// Reads the list; `stderr` is what the server wrote to its standard error, for the case that it takes too long.
    async fn read_list(
        &self,
        peer: &Peer<RoleClient>,
        stderr: impl Fn() -> String,
    ) -> Result<(), McpError> {
        let limit = self.config.limits.list;
        let listed = tokio::time::timeout(limit, offer::all(self, peer)).await;
        let tools = listed.unwrap_or_else(|_late| {
            Err(self.late("to list its tools", "list", limit, &stderr()))
        })?;
        let mut known = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = std::mem::replace(&mut *known, tools.clone()) != tools;
        drop(known);
        if changed {
            for note in &tools.notes {
                tracing::warn!("{note}");
            }
            self.shared.changes.send_modify(|changes| *changes += 1);
        }
        Ok(())
    }

    /// It cannot be used. `stderr` is what it wrote to its standard error, where it is a program.
    pub(super) fn unusable(&self, problem: impl Display, stderr: &str) -> McpError {
        McpError::Unusable {
            server: self.name.clone(),
            problem: format!("{problem}{}", tail(stderr)),
        }
    }

    /// There is no connection with it.
    pub(super) fn unconnected(&self, reason: &str, stderr: &str) -> McpError {
        self.unusable(format_args!("could not be connected: {reason}"), stderr)
    }

    /// It did not do something within the limit of this field.
    pub(super) fn late(&self, doing: &str, field: &str, limit: Duration, stderr: &str) -> McpError {
        let problem =
            format!("took longer than {limit:?} {doing}; raise `limits.{field}` if it needs more");
        self.unusable(problem, stderr)
    }

    /// It has a request, and what it did is not known.
    fn unseen(&self, problem: String) -> McpError {
        McpError::Unseen {
            server: self.name.clone(),
            problem,
        }
    }

    /// What it replied cannot be read.
    pub(super) fn unreadable(&self, doing: &str, reason: impl Display) -> McpError {
        self.unseen(format!(
            "gave {doing} a reply that cannot be read: {reason}"
        ))
    }

    /// What a request came to that has no result.
    pub(super) fn refused(&self, doing: &str, error: &ServiceError) -> McpError {
        let mut reason = words(error);
        if let ServiceError::McpError(said) = error {
            if let Some(why) = reply::why_unreadable(said) {
                return self.unreadable(doing, why);
            }
            reason = bounded(&said.message, LONGEST_REASON);
        } else if let ServiceError::TransportSend(unsent) = error {
            let gate = self.gate.as_ref();
            if let Some(demanded) = gate.and_then(|gate| gate.demanded(&*unsent.error)) {
                return demanded;
            }
            reason = words(transport::cause(&*unsent.error));
            if transport::may_have_arrived(&*unsent.error) {
                return self.unseen(format!("did not reply to {doing}: {reason}"));
            }
        }
        self.unusable(format_args!("refused {doing}: {reason}"), "")
    }

    /// The connection ended while something was under way.
    pub(super) async fn ended(&self, connection: &Connection) -> McpError {
        let how = self.how_ended(connection).await;
        self.unseen(format!("ended: {how}{}", tail(&connection.stderr())))
    }

    /// How a connection ended, in words.
    pub(super) async fn how_ended(&self, connection: &Connection) -> String {
        if let Some(refused) = connection.book.refused() {
            return refused;
        }
        match &connection.process {
            // Its output ends a moment before it does.
            Some(process) if process.ends_within(self.config.limits.close).await => {
                process.ended().await.how
            }
            Some(_process) => "its output ended".to_owned(),
            None => "its connection broke off".to_owned(),
        }
    }
}

fn tail(stderr: &str) -> String {
    if stderr.is_empty() {
        return String::new();
    }
    format!("; the end of its standard error:\n{stderr}")
}
