//! The life of a server: from a listening socket to its drain.

use std::net::SocketAddr;
use std::sync::Arc;

use interrupts::store::StoreError;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::{ConcurrencyLimit, HostNames, Pace, SessionCookie, SessionExpiry};
use crate::app::{App, AppState};
use crate::bus::{self, Publishing};
use crate::changes::PlanChanges;
use crate::clearing::clear_up;
use crate::config::{Remote, ServerConfig};
use crate::connections::Connections;
use crate::feed::Feed;
use crate::metrics::Metrics;
use crate::routes;
use interrupts::catalogue::CatalogueBook;

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The socket cannot be used.
    #[error("the socket cannot be used")]
    Socket(#[source] std::io::Error),
    /// Other machines can reach the socket, and what they send could be read on the way.
    #[error(
        "{address} can be reached from other machines, and neither TLS nor a proxy that speaks it was named"
    )]
    Remote {
        /// Its address.
        address: SocketAddr,
    },
    /// The server would be open to other machines, and there is no token yet.
    #[error("no token exists; make one before other machines may reach the server")]
    NoTokens,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Connections that were still open when the time was over, and were closed.
    pub cut: usize,
}

/// Serves until `stop` is cancelled, then drains: no new connections; requests that were begun are finished; streams
/// and sockets get a notice.
///
/// # Errors
///
/// [`ServeError`]. Nothing was served then.
///
/// # Cancel safety
///
/// Dropped, it stops accepting at once; connections that are open end with the runtime. Cancel `stop` instead.
pub async fn serve(
    listener: TcpListener,
    config: ServerConfig,
    stop: CancellationToken,
) -> Result<Drained, ServeError> {
    check_reach(&listener, &config).await?;
    let drain_time = config.drain_time;
    let port = listener.local_addr().map_err(ServeError::Socket)?.port();
    let app = app_of(config, port, &stop).await?;
    let router = routes::router(app.clone());
    let connections = Connections::new(
        router.clone(),
        app.config.limits.clone(),
        app.config.remote.acceptor(),
        stop.clone(),
    );
    let chores = TaskTracker::new();
    chores.spawn(Arc::clone(&app.feed).follow(stop.clone()));
    chores.spawn(clear_up(app.clone(), stop.clone()));
    chores.spawn(watch_tokens(app.clone(), stop.clone()));
    chores.spawn(bus::relay(app.clone(), stop.clone()));
    chores.spawn(bus::carry_out(app.clone(), router, stop.clone()));
    chores.close();
    connections.accept(listener).await;
    let (open, outliving) = (connections.open(), app.outliving.clone());
    outliving.close();
    let ended = async {
        open.wait().await;
        outliving.wait().await;
        chores.wait().await;
    };
    let cut = match tokio::time::timeout(drain_time, ended).await {
        Ok(()) => 0,
        Err(_elapsed) => open.len() + outliving.len(),
    };
    Ok(Drained { cut })
}

/// Closes streams and sockets whose tokens are no longer valid.
async fn watch_tokens(app: App, stop: CancellationToken) {
    app.staying.watch(app.store(), stop).await;
}

async fn app_of(
    config: ServerConfig,
    port: u16,
    stop: &CancellationToken,
) -> Result<App, StoreError> {
    let metrics = Arc::new(Metrics::new(config.bus.as_ref(), &config.store_times));
    let feed = Feed::open(
        Arc::clone(&config.store),
        config.instance.clone(),
        &config.limits,
        Arc::clone(&metrics),
    )
    .await?;
    Ok(App::new(AppState {
        pace: Pace::new(&config.limits),
        crowd: ConcurrencyLimit::new(config.limits.requests_at_once),
        hosts: HostNames::new(&config.hosts, config.remote.is_secure()),
        session: SessionCookie::new(port, config.remote.is_secure()),
        staying: SessionExpiry::default(),
        catalogues: CatalogueBook::new(config.catalogues.iter().cloned()),
        feed: Arc::new(feed),
        metrics,
        bus: config.bus.clone().map(Publishing::to),
        draining: stop.clone(),
        outliving: TaskTracker::new(),
        settling: Arc::default(),
        changes: PlanChanges::default(),
        config,
    }))
}

/// Checks that a server may be reached by everyone who can reach its socket. [`serve`] checks it by itself; a caller
/// that does something before that, such as printing the address, checks first.
///
/// # Errors
///
/// [`ServeError::Remote`] if other machines can reach it without TLS; [`ServeError::NoTokens`] if they reach it with
/// TLS, and there is no token that lasts.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn check_reach(listener: &TcpListener, config: &ServerConfig) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Socket)?;
    if address.ip().is_loopback() {
        return Ok(());
    }
    match config.remote {
        Remote::Refused => Err(ServeError::Remote { address }),
        Remote::BehindProxy | Remote::OverTls(_) => {
            let now = config.clock.now();
            let tokens = config.store.tokens().await?;
            // A one-time token is no protection, only a way to begin.
            let any = tokens
                .iter()
                .any(|token| token.holds_at(now) && !token.once);
            if any {
                Ok(())
            } else {
                Err(ServeError::NoTokens)
            }
        }
    }
}
