//! The page of this machine that a person comes back to with the answer to a login (RFC 8252, section 7.3).

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use reqwest::Url;
use rmcp::transport::auth::AuthorizationCallback;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The path that the answer comes to.
const PATH: &str = "/callback";

/// The longest head of a request that is read.
const LONGEST_HEAD: usize = 16 * 1024;

/// How long a browser may take for its request. It may open connections that it never uses.
const HEAD_WITHIN: Duration = Duration::from_secs(5);

/// A page that waits for one answer.
pub(super) struct Landing {
    listener: TcpListener,
    /// Where it is.
    pub(super) address: Url,
}

/// What a request to the page is.
enum Visit {
    /// The answer: a code, or the words of a refusal.
    Answer(Result<AuthorizationCallback, String>),
    /// Something else.
    Stranger,
}

impl Landing {
    /// Opens the page on this port, else on a free one.
    pub(super) async fn open(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        let address = Url::parse(&format!("http://127.0.0.1:{port}{PATH}"));
        Ok(Self {
            listener,
            address: address.map_err(io::Error::other)?,
        })
    }

    /// Waits for the answer to the login that `state` marks. A request with another mark is none: any page of the web
    /// can send one here.
    pub(super) async fn answer(
        &self,
        state: &str,
    ) -> io::Result<Result<AuthorizationCallback, String>> {
        loop {
            let (mut connection, _from) = self.listener.accept().await?;
            let head = tokio::time::timeout(HEAD_WITHIN, head(&mut connection)).await;
            let Ok(Ok(head)) = head else { continue };
            let visit = self.visit(&head, state);
            let (status, words) = match &visit {
                Visit::Answer(Ok(_code)) => (
                    "200 OK",
                    "You can close this page and go back to the terminal.",
                ),
                Visit::Answer(Err(_refusal)) => {
                    ("200 OK", "The login was refused. The terminal says more.")
                }
                Visit::Stranger => ("404 Not Found", "No login waits for this."),
            };
            // The answer counts, whether or not its page is seen.
            let _seen = reply(&mut connection, status, words).await;
            if let Visit::Answer(answer) = visit {
                return Ok(answer);
            }
        }
    }

    fn visit(&self, head: &str, state: &str) -> Visit {
        let target = head
            .strip_prefix("GET ")
            .and_then(|rest| rest.split(' ').next());
        let Some(url) = target.and_then(|target| self.address.join(target).ok()) else {
            return Visit::Stranger;
        };
        let value = |wanted: &str| {
            let mut pairs = url.query_pairs();
            pairs
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value.into_owned())
        };
        if url.path() != PATH || value("state").as_deref() != Some(state) {
            return Visit::Stranger;
        }
        // RFC 6749, section 4.1.2.1
        if let Some(error) = value("error") {
            let more = value("error_description").map(|words| format!(": {words}"));
            return Visit::Answer(Err(format!("{error}{}", more.unwrap_or_default())));
        }
        match AuthorizationCallback::from_redirect_url(url.as_str()) {
            Ok(callback) => Visit::Answer(Ok(callback)),
            Err(_incomplete) => Visit::Stranger,
        }
    }
}

/// The head of a request.
async fn head(connection: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = connection.read(&mut piece).await?;
        if read == 0 || head.len() > LONGEST_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(piece.get(..read).unwrap_or_default());
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

async fn reply(connection: &mut TcpStream, status: &str, words: &str) -> io::Result<()> {
    let page = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{words}",
        words.len()
    );
    connection.write_all(page.as_bytes()).await?;
    connection.shutdown().await
}
