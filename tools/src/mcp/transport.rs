//! The way to a server on the network.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthClient;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use tokio::sync::watch;

use super::config::HttpServer;
use super::connection::words;
use super::error::McpError;
use super::listening::{Listening, OwnStream};
use super::login::TokenMiddleware;
use super::server::Server;

/// How many requests may be on their way at once.
const AT_ONCE: usize = 64;

/// How long an idle connection stays open: many calls at once open many.
const IDLE: Duration = Duration::from_secs(10);

/// How often a stream that broke off is resumed where it ended.
const RECONNECTS: usize = 6;

/// The way, and how far the stream is that the server speaks on by itself.
type Way = (
    StreamableHttpClientTransport<AuthClient<Listening>>,
    watch::Receiver<OwnStream>,
);

/// The way to a server, with a client of its own: nothing of one server reaches another.
pub(super) async fn http(
    server: &Server,
    address: &HttpServer,
    gate: &TokenMiddleware,
) -> Result<Way, McpError> {
    let limits = &server.config.limits;
    let client = tls::client()
        // A redirect could take the headers elsewhere.
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(limits.start)
        .pool_idle_timeout(IDLE)
        .build()
        .map_err(|error| server.unconnected(&words(&error), ""))?;
    let mut backoff = ExponentialBackoff::default();
    backoff.max_times = Some(RECONNECTS);
    backoff.base_duration = Duration::from_millis(250);
    backoff.max_delay = Some(Duration::from_secs(5));
    let headers = address.headers.iter();
    let headers = headers.map(|(name, value)| (name.clone(), value.clone()));
    let mut config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str())
        .custom_headers(headers.collect())
        .max_concurrent_requests(AT_ONCE)
        .control_request_timeout(limits.cancel);
    config.retry_config = Arc::new(backoff);
    let (client, own_stream) = Listening::new(client, limits.message);
    let client = gate.client(client).await?;
    let transport = StreamableHttpClientTransport::with_client(client, config);
    Ok((transport, own_stream))
}

/// Whether a request that could not be sent may have arrived all the same: its connection broke afterwards, or what is in
/// front of the server had no reply of it.
pub(super) fn may_have_arrived(error: &(dyn Error + 'static)) -> bool {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(below)) => !below.is_connect() && !below.is_builder(),
        Some(StreamableHttpError::HttpStatus(said)) => matches!(said.status, 500 | 502 | 504),
        Some(StreamableHttpError::SessionRecoveryTimeout) => true,
        Some(_) | None => false,
    }
}

/// What the way itself failed by. The library shows the error of the client below it, and hides what caused that.
pub(super) fn cause<'error>(error: &'error (dyn Error + 'static)) -> &'error (dyn Error + 'static) {
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(below)) => below,
        Some(_) | None => error,
    }
}
