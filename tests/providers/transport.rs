//! What carries a double's requests: HTTP/1.1 or HTTP/2, with TLS or without.

use std::io;
use std::sync::Arc;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// What its certificate is for: this machine, and a name that leads nowhere but through a proxy.
const NAMES: [&str; 2] = ["localhost", "provider.example"];

/// What carries requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// HTTP/1.1 without encryption.
    Http1,
    /// HTTP/1.1 over TLS.
    Http1OverTls,
    /// HTTP/2 over TLS.
    Http2OverTls,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Http1, Self::Http1OverTls, Self::Http2OverTls];
}

/// A certificate of its own, and how connections are accepted with it.
pub(super) struct Secured {
    acceptor: TlsAcceptor,
    /// The certificate in PEM: it is its own authority.
    pub(super) authority: String,
}

impl Secured {
    /// Makes a certificate for its names, where the transport has one.
    pub(super) fn new(transport: Transport) -> io::Result<Option<Self>> {
        let protocol = match transport {
            Transport::Http1 => return Ok(None),
            Transport::Http1OverTls => b"http/1.1".to_vec(),
            Transport::Http2OverTls => b"h2".to_vec(),
        };
        let made = rcgen::generate_simple_self_signed(NAMES.map(str::to_owned));
        let made = made.map_err(io::Error::other)?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let mut config = ServerConfig::builder_with_provider(tls::provider())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], PrivateKeyDer::Pkcs8(key))
            .map_err(io::Error::other)?;
        config.alpn_protocols = vec![protocol];
        Ok(Some(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            authority: made.cert.pem(),
        }))
    }
}

/// Serves connections until it is dropped, and they with it.
pub(super) async fn serve(listener: TcpListener, secured: Option<Secured>, router: Router) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_ended) = connections.join_next() => continue,
        };
        let Ok((stream, _peer)) = accepted else {
            continue;
        };
        let acceptor = secured.as_ref().map(|secured| secured.acceptor.clone());
        connections.spawn(one(stream, acceptor, router.clone()));
    }
}

async fn one(stream: TcpStream, acceptor: Option<TlsAcceptor>, router: Router) {
    let _nodelay = stream.set_nodelay(true);
    match acceptor {
        None => answer(stream, router).await,
        Some(acceptor) => {
            // Whoever does not get so far was not a client.
            if let Ok(stream) = acceptor.accept(stream).await {
                answer(stream, router).await;
            }
        }
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) {
    let service = TowerToHyperService::new(router);
    let builder = auto::Builder::new(TokioExecutor::new());
    // A broken connection is part of the play.
    let _ended = builder
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
