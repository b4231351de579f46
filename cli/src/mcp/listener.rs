//! MCP over streamable HTTP, for clients of this machine.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::model::Extensions;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::server::AskServer;
use super::sessions::Sessions;
use crate::exit::{Exit, Failure, tell};

/// The path of the one endpoint.
const PATH: &str = "/mcp";

/// The header of a session that outlives its connections.
const SESSION_HEADER: &str = "mcp-session-id";

/// Listens until the process is asked to end.
///
/// # Errors
///
/// [`Exit::Usage`] if other machines could reach the address; [`Exit::Failure`] if it cannot be listened at.
///
/// # Cancel safety
///
/// Dropped, all connections are cut.
pub(super) async fn serve(address: SocketAddr, sessions: &Arc<Sessions>) -> Result<(), Failure> {
    if !address.ip().is_loopback() {
        let text =
            format!("--listen {address}: other machines could reach it, and it has no tokens");
        return Err(Failure::new(Exit::Usage, text).hint("listen at 127.0.0.1"));
    }
    let cannot = |error: std::io::Error| {
        let text = format!("cannot listen at {address}: {error}");
        Failure::new(Exit::Failure, text).hint("choose another port; port 0 takes a free one")
    };
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let own = listener.local_addr().map_err(cannot)?;
    tell(format_args!("irq mcp listens at http://{own}{PATH}"));
    let for_client = Arc::clone(sessions);
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(sessions.closing.child_token())
        // Pages in a browser are no clients, and none has this origin: programs that send an origin send their
        // server's.
        .with_allowed_origins([
            format!("http://{own}"),
            format!("http://localhost:{}", own.port()),
        ]);
    let service = StreamableHttpService::new(
        move || Ok(AskServer::new(Arc::clone(&for_client))),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ended = connections.join_next(), if !connections.is_empty() => continue,
            () = sessions.closing.cancelled() => return Ok(()),
        };
        let Ok((stream, _peer)) = accepted else {
            // Too many connections at once: the existing ones go first.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let service = TowerToHyperService::new(service.clone());
        connections.spawn(async move {
            let connection = Builder::new(TokioExecutor::new());
            let served = connection
                .serve_connection(TokioIo::new(stream), service)
                .await;
            if let Err(error) = served {
                tracing::debug!(error, "a connection has ended");
            }
        });
    }
}

/// The name of the session that a client gives in its address: `/mcp?session=NAME`.
pub(super) fn session_of(extensions: &Extensions) -> Option<String> {
    let request = extensions.get::<http::request::Parts>()?;
    let query = request.uri.query()?;
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let (_name, value) = pairs.find(|(name, _value)| name == "session")?;
    Some(value.into_owned()).filter(|name| !name.trim().is_empty())
}

/// Whether a request has no session that outlives its connection: then closing the connection cancels the request.
pub(super) fn ends_with_its_connection(extensions: &Extensions) -> bool {
    let request = extensions.get::<http::request::Parts>();
    request.is_some_and(|request| !request.headers.contains_key(SESSION_HEADER))
}
