//! A link of one process to one server, which can be cut: a cable of the network, or where there is none a port whose
//! bytes are carried on while it is whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::network::Cable;

/// After how long a network gives a connection up through which nothing comes.
const GIVEN_UP: Duration = Duration::from_secs(20);

/// How long bytes take through a slow link.
const SLOWNESS: Duration = Duration::from_millis(30);

/// What a link does with the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It carries them.
    Whole,
    /// It carries them late; a cable loses some, which are sent again.
    Slow,
    /// Nothing gets to the server; what the server says arrives.
    CutThere,
    /// Nothing comes back from the server; what it is told arrives.
    CutBack,
    /// Nothing arrives, and neither side is told.
    CutBoth,
    /// Connections end at once, and so do new ones.
    Refused,
}

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

impl Flow {
    const fn carries(self, way: Way) -> bool {
        match self {
            Self::Whole | Self::Slow => true,
            Self::CutThere => matches!(way, Way::Back),
            Self::CutBack => matches!(way, Way::There),
            Self::CutBoth | Self::Refused => false,
        }
    }
}

/// A link.
pub(crate) struct Link {
    server: String,
    kind: LinkKind,
}

enum LinkKind {
    Port(watch::Sender<Flow>),
    Cable(Cable),
}

impl Link {
    /// One that is a cable.
    pub(crate) fn by(cable: Cable) -> Self {
        Self {
            server: cable.server(),
            kind: LinkKind::Cable(cable),
        }
    }

    /// One to a server of this machine whose port may change.
    pub(crate) async fn to(server: Arc<AtomicU16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (flow, watched) = watch::channel(Flow::Whole);
        tokio::spawn(async move {
            loop {
                let Ok((client, _from)) = listener.accept().await else {
                    // Too many files are open for a moment.
                    sleep(SLOWNESS).await;
                    continue;
                };
                let server = server.load(Ordering::SeqCst);
                tokio::spawn(carry(client, server, watched.clone()));
            }
        });
        Self {
            server: format!("127.0.0.1:{port}"),
            kind: LinkKind::Port(flow),
        }
    }

    /// Where the process connects to.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    pub(crate) fn becomes(&self, flow: Flow) {
        match &self.kind {
            LinkKind::Port(watched) => {
                watched.send_replace(flow);
            }
            LinkKind::Cable(cable) => cable.becomes(flow),
        }
    }
}

async fn carry(client: TcpStream, server: u16, flow: watch::Receiver<Flow>) {
    if *flow.borrow() == Flow::Refused {
        return;
    }
    let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else {
        return;
    };
    let _no_delay = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    let mut refusing = flow.clone();
    tokio::select! {
        () = pump(from_client, to_server, Way::There, flow.clone()) => {}
        () = pump(from_server, to_client, Way::Back, flow) => {}
        _refused = refusing.wait_for(|flow| *flow == Flow::Refused) => {}
    }
}

/// Carries bytes one way, until the connection ends or is given up.
async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    way: Way,
    mut flow: watch::Receiver<Flow>,
) {
    let mut bytes = vec![0; 1 << 16];
    loop {
        let Ok(length @ 1..) = from.read(&mut bytes).await else {
            return;
        };
        let carried = timeout(GIVEN_UP, flow.wait_for(|flow| flow.carries(way))).await;
        let Ok(Ok(flow)) = carried.map(|flow| flow.map(|flow| *flow)) else {
            return;
        };
        if flow == Flow::Slow {
            sleep(SLOWNESS).await;
        }
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}
