//! One server, over all of its lives: it is started when it is needed, and started again when it died.

use std::collections::VecDeque;
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
    state: tokio::sync::Mutex<ServerState>,
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
    closed: bool,
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
            state: tokio::sync::Mutex::default(),
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
        if state.closed {
            return Err(McpError::Closed {
                server: self.name.clone(),
            });
        }
        if let Some(connection) = state.connection.take() {
            if connection.is_alive() {
                state.connection = Some(Arc::clone(&connection));
                return Ok(connection);
            }
            let by_itself = !connection.was_given_up();
            let _ended = connection.end("its connection broke off").await;
            if by_itself {
                state.died(&connection);
            }
        }
        self.may_start(&mut state)?;
        let connection = self.admitted(&mut state).await?;
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
        if let Err(mut error) = self.list(&connection.peer).await {
            if let McpError::Late { stderr, .. } = &mut error {
                *stderr = connection.stderr();
            }
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
                Err(McpError::Restarts {
                    server: self.name.clone(),
                    deaths: state.deaths.len(),
                    after: DEATHS_WITHIN.saturating_sub(now.duration_since(*first)),
                    stderr: state.last_words.clone(),
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Closes it for good.
    pub(super) async fn close(&self) -> Option<Arc<ProcessEnd>> {
        let mut state = self.state.lock().await;
        state.closed = true;
        let connection = state.connection.take()?;
        connection.close(self).await
    }

    /// Reads the list again because the server says that it changed. One reader is enough, however often it says so.
    pub(super) async fn list_again(&self, peer: &Peer<RoleClient>) {
        self.list_is_old.store(true, Ordering::SeqCst);
        let Ok(_reading) = self.listing.try_lock() else {
            return;
        };
        while self.list_is_old.swap(false, Ordering::SeqCst) {
            if let Err(error) = self.read_list(peer).await {
                tracing::warn!(server = %self.name, %error, "the changed tools of an MCP server could not be listed");
                return;
            }
        }
    }

    async fn list(&self, peer: &Peer<RoleClient>) -> Result<(), McpError> {
        let _reading = self.listing.lock().await;
        self.read_list(peer).await
    }

    async fn read_list(&self, peer: &Peer<RoleClient>) -> Result<(), McpError> {
        let limit = self.config.limits.list;
        let listed = tokio::time::timeout(limit, offer::all(self, peer)).await;
        let tools = listed.unwrap_or_else(|_late| {
            Err(self.late("to list its tools", limit, "list", String::new()))
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

    pub(super) fn connect(&self, reason: String, stderr: String) -> McpError {
        McpError::Connect {
            server: self.name.clone(),
            reason,
            stderr,
        }
    }

    pub(super) fn late(
        &self,
        doing: &'static str,
        limit: Duration,
        field: &'static str,
        stderr: String,
    ) -> McpError {
        McpError::Late {
            server: self.name.clone(),
            doing,
            limit,
            field,
            stderr,
        }
    }

    /// What a request came to that has no result.
    pub(super) fn refused(&self, doing: &'static str, error: &ServiceError) -> McpError {
        if let ServiceError::McpError(said) = error
            && let Some(why) = reply::why_unreadable(said)
        {
            return self.unreadable(doing, why.to_owned());
        }
        let mut reason = words(error);
        if let ServiceError::TransportSend(unsent) = error {
            let gate = self.gate.as_ref();
            if let Some(demanded) = gate.and_then(|gate| gate.demanded(&*unsent.error)) {
                return demanded;
            }
            reason = words(transport::cause(&*unsent.error));
            if transport::may_have_arrived(&*unsent.error) {
                return McpError::Unanswered {
                    server: self.name.clone(),
                    doing,
                    reason,
                };
            }
        } else if let ServiceError::McpError(said) = error {
            reason = bounded(&said.message, LONGEST_REASON);
        }
        McpError::Refused {
            server: self.name.clone(),
            doing,
            reason,
        }
    }

    /// What it replied cannot be read.
    pub(super) fn unreadable(&self, doing: &'static str, reason: String) -> McpError {
        McpError::Unreadable {
            server: self.name.clone(),
            doing,
            reason,
        }
    }

    /// The connection ended while something was under way.
    pub(super) async fn ended(&self, connection: &Connection) -> McpError {
        McpError::Ended {
            server: self.name.clone(),
            how: self.how_ended(connection).await,
            stderr: connection.stderr(),
        }
    }

    /// How a connection ended, in words.
    pub(super) async fn how_ended(&self, connection: &Connection) -> String {
        if let Some(refused) = connection.book.refused() {
            return refused;
        }
        match &connection.process {
            // Its output ends a moment before it does.
            Some(process) if process.ends_within(self.config.limits.close).await => {
                process.ended().await.how.clone()
            }
            Some(_process) => "its output ended".to_owned(),
            None => "its connection broke off".to_owned(),
        }
    }
}

impl ServerState {
    fn died(&mut self, connection: &Connection) {
        self.deaths.push_back(Instant::now());
        self.last_words = connection.stderr();
    }
}
