//! One life of a server: from its greeting to its end.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::OptionFuture;
use rmcp::RoleClient;
use rmcp::service::{ClientInitializeError, Peer, RunningService, ServiceExt as _};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::net::UnixStream;

use super::book::Book;
use super::cancel::ending;
use super::client::Client;
use super::config::{HttpServer, ProcessServer, ServerTransport};
use super::content::bounded;
use super::error::McpError;
use super::listening;
use super::login::TokenMiddleware;
use super::process::{ProcessEnd, ServerProcess};
use super::server::Server;
use super::transport;
use super::watched::{WatchedTransport, message_lines};
use crate::containment::ContainedCommand;

/// The most of an error's words that is passed on.
pub(super) const LONGEST_REASON: usize = 1024;

type Service = RunningService<RoleClient, Client>;

/// A connection with a server. Dropped, it ends, and so does the process that we started for it.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) book: Arc<Book>,
    pub(super) process: Option<ServerProcess>,
    /// `None` as soon as it is ours to end it.
    service: Mutex<Option<Service>>,
}

impl Connection {
    /// Starts the server, or reaches it, and greets it, within its limit.
    pub(super) async fn open(server: &Arc<Server>) -> Result<Self, McpError> {
        match (&server.config.reach, &server.gate) {
            (ServerTransport::Process(program), _) => Self::to_process(server, program).await,
            (ServerTransport::Http(address), Some(gate)) => {
                Self::to_address(server, address, gate).await
            }
            (ServerTransport::Http(_), None) => Err(server.unconnected("it has no gate", "")),
        }
    }

    async fn to_process(server: &Arc<Server>, program: &ProcessServer) -> Result<Self, McpError> {
        let shared = &server.shared;
        let command = ContainedCommand {
            program: program.program.clone(),
            arguments: program.arguments.clone(),
            environment: program.environment.clone(),
            directory: program
                .directory
                .clone()
                .unwrap_or_else(|| shared.directory.clone()),
        };
        let started = ServerProcess::start(&shared.containment, command).await;
        let (process, socket) = started.map_err(|error| {
            server.unusable(format_args!("could not be started: {}", words(&error)), "")
        })?;
        let book = Arc::new(Book::new(Arc::clone(&shared.counter), false));
        let limits = &server.config.limits;
        let client = Client::new(server, Arc::clone(&book));
        let serving = client.serve(lines(socket, limits.message, &book));
        match tokio::time::timeout(limits.start, serving).await {
            Ok(Ok(service)) => Ok(Self::new(service, book, Some(process))),
            Ok(Err(error)) => {
                // Where it ended by itself, that says more than that its output did.
                let died = process.ends_within(limits.close).await;
                let end = process.stop(ending("its greeting failed")).await;
                let reason = if died { end.how } else { greeting(&error) };
                Err(server.unconnected(&reason, &process.stderr()))
            }
            Err(_late) => {
                process.stop(ending("it did not answer the greeting")).await;
                Err(server.late("to start", "start", limits.start, &process.stderr()))
            }
        }
    }

    async fn to_address(
        server: &Arc<Server>,
        address: &HttpServer,
        gate: &TokenMiddleware,
    ) -> Result<Self, McpError> {
        let limits = &server.config.limits;
        let (inner, own_stream) = transport::http(server, address, gate).await?;
        let book = Arc::new(Book::new(Arc::clone(&server.shared.counter), true));
        let client = Client::new(server, Arc::clone(&book));
        let serving = client.serve(WatchedTransport::new(inner, Arc::clone(&book)));
        match tokio::time::timeout(limits.start, serving).await {
            Ok(Ok(service)) => {
                listening::settled(own_stream).await;
                Ok(Self::new(service, book, None))
            }
            Ok(Err(error)) => {
                let demanded = if let ClientInitializeError::TransportError { error, .. } = &error {
                    gate.demanded(&*error.error)
                } else {
                    None
                };
                Err(demanded.unwrap_or_else(|| server.unconnected(&greeting(&error), "")))
            }
            Err(_late) => Err(server.late("to start", "start", limits.start, "")),
        }
    }

    fn new(service: Service, book: Arc<Book>, process: Option<ServerProcess>) -> Self {
        Self {
            peer: service.peer().clone(),
            book,
            process,
            service: Mutex::new(Some(service)),
        }
    }

    pub(super) fn is_alive(&self) -> bool {
        let ended = self.process.as_ref().is_some_and(ServerProcess::has_ended);
        !ended && !self.was_given_up() && !self.peer.is_transport_closed()
    }

    /// Whether it was ours to end it.
    pub(super) fn was_given_up(&self) -> bool {
        self.service().is_none()
    }

    fn service(&self) -> MutexGuard<'_, Option<Service>> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the process has ended; for ever where there is none of ours.
    pub(super) async fn process_ended(&self) -> ProcessEnd {
        match &self.process {
            Some(process) => process.ended().await,
            None => std::future::pending().await,
        }
    }

    /// The end of what the process wrote to its standard error.
    pub(super) fn stderr(&self) -> String {
        let process = self.process.as_ref();
        process.map(ServerProcess::stderr).unwrap_or_default()
    }

    /// Ends it without asking. Returns how the process ended, where there is one of ours.
    pub(super) async fn end(&self, why: &str) -> Option<ProcessEnd> {
        let service = self.service().take();
        let process = self.process.as_ref();
        let ended = OptionFuture::from(process.map(|process| process.stop(ending(why)))).await;
        drop(service);
        ended
    }

    /// Takes leave: the server's input ends, or its session does, and it may end by itself for as long as is said.
    pub(super) async fn close(&self, server: &Server) -> Option<ProcessEnd> {
        let time = server.config.limits.close;
        let service = self.service().take();
        if let Some(mut service) = service {
            let _closed = service.close_with_timeout(time).await;
        }
        let process = self.process.as_ref()?;
        let _by_itself = process.ends_within(time).await;
        Some(process.stop(ending("it is no longer needed")).await)
    }
}

/// A server's output and input as messages, one a line.
fn lines(
    socket: UnixStream,
    longest: usize,
    book: &Arc<Book>,
) -> WatchedTransport<impl rmcp::transport::Transport<RoleClient> + 'static> {
    let (output, input) = socket.into_split();
    let output = message_lines(output, longest, Arc::clone(book));
    // What is longer was refused before.
    let inner = AsyncRwTransport::new_client(output, input).with_max_line_length(usize::MAX);
    WatchedTransport::new(inner, Arc::clone(book))
}

/// An error with its causes, in one line.
pub(super) fn words(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = inner.source();
    }
    bounded(&words, LONGEST_REASON)
}

/// Why a greeting failed, without the names of the library's types.
fn greeting(error: &ClientInitializeError) -> String {
    if let ClientInitializeError::TransportError { error, .. } = error {
        return words(transport::cause(&*error.error));
    }
    words(error)
}
