//! Connections: how many at once, how long a head may take, and how they end.

mod read_timeout;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::service::HttpService;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;
use tower::service_fn;

use crate::access::Peer;
use crate::config::ServerLimits;
use read_timeout::Patient;

/// How much of a connection is read and buffered at once: a larger head is refused.
const READ_AT_ONCE: usize = 64 << 10;

/// Accepts connections until it is asked to stop.
pub(crate) struct Connections {
    router: Router,
    limits: ServerLimits,
    slots: Arc<Semaphore>,
    open: TaskTracker,
    tls: Option<TlsAcceptor>,
    draining: CancellationToken,
}

impl Connections {
    pub(crate) fn new(
        router: Router,
        limits: ServerLimits,
        tls: Option<TlsAcceptor>,
        draining: CancellationToken,
    ) -> Self {
        Self {
            router,
            slots: Arc::new(Semaphore::new(limits.connections)),
            limits,
            open: TaskTracker::new(),
            tls,
            draining,
        }
    }

    /// The connections that are open.
    pub(crate) fn open(&self) -> TaskTracker {
        self.open.clone()
    }

    /// Accepts until the drain begins.
    pub(crate) async fn accept(&self, listener: TcpListener) {
        loop {
            // A connection without a slot waits in the listener's queue, not in memory.
            let slot = tokio::select! {
                () = self.draining.cancelled() => break,
                slot = Arc::clone(&self.slots).acquire_owned() => slot,
            };
            let accepted = tokio::select! {
                () = self.draining.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let connection = self.connection(stream, Peer(peer));
                    self.open.spawn(async move {
                        connection.await;
                        drop(slot);
                    });
                }
                Err(error) => {
                    // Mostly too many open files: it passes when connections end.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            }
        }
        self.open.close();
    }

    fn connection(&self, stream: TcpStream, peer: Peer) -> impl Future<Output = ()> + Send + use<> {
        let router = self.router.clone();
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request: Request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            let router = router.clone();
            async move {
                let Ok(response) = router.oneshot(request).await;
                Ok::<_, Infallible>(response)
            }
        });
        let head_time = self.limits.head_time;
        let write_time = self.limits.write_time;
        let draining = self.draining.clone();
        let tls = self.tls.clone();
        async move {
            // Small answers must not wait for each other's acknowledgement.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection ended before it began");
                return;
            }
            let stream = Patient::new(stream, write_time);
            let service = TowerToHyperService::new(service);
            let Some(tls) = tls else {
                return exchange(stream, service, head_time, draining).await;
            };
            let shaken = tokio::select! {
                () = draining.cancelled() => return,
                shaken = tokio::time::timeout(head_time, tls.accept(stream)) => shaken,
            };
            match shaken {
                Ok(Ok(stream)) => exchange(stream, service, head_time, draining).await,
                Ok(Err(error)) => {
                    tracing::debug!(%error, "a connection does not speak TLS with us")
                }
                Err(_elapsed) => tracing::debug!("a connection did not come to speak TLS in time"),
            }
        }
    }
}

/// Serves a connection, until it ends or the server is asked to stop.
async fn exchange<S, H>(stream: S, service: H, head_time: Duration, draining: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: HttpService<Incoming, ResBody = Body, Error = Infallible>,
{
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .max_buf_size(READ_AT_ONCE)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = draining.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
