//! Requests to a server: bounded in time and size, and repeated only if that changes nothing.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Certificate, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::request::Request;
use crate::{Address, ClientError, ProblemDocument, Token};

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long a whole answer may take.
const ANSWERING: Duration = Duration::from_secs(40);
/// The most bytes of an answer.
const LONGEST: usize = 64 << 20;
/// How long to wait before each further attempt.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1500),
];
/// How often an answer that timed out is asked for again, if a repeat makes sense.
const MOST_WAITS: u32 = 20;
/// The longest wait that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The caller as the server knows him, and the version of the server.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct WhoAmI {
    /// The caller's name in the audit.
    pub name: String,
    /// The caller's role.
    pub role: String,
    /// The run that an agent's token is bound to.
    #[serde(default)]
    pub run_id: Option<String>,
    /// The agent of that run that the token is bound to.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// The version of the server's program.
    pub version: String,
    /// The last position of the feed.
    pub seq: String,
}

/// What became of one attempt.
enum Attempt {
    Answered(StatusCode, Vec<u8>),
    /// It did not reach the server, or the server has certainly not done it.
    Undone(ClientError, Option<Duration>),
    /// It may have been done.
    Unknown(ClientError),
}

/// The settings of a client.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    address: Address,
    token: Option<Token>,
    authorities: Option<Vec<u8>>,
}

impl ClientSettings {
    /// A client of the server at an address, whose caller has no name.
    pub const fn new(address: Address) -> Self {
        Self {
            address,
            token: None,
            authorities: None,
        }
    }

    /// The token by which the server knows its caller.
    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Trusts these authorities, too: a bundle of certificates in PEM.
    pub fn authorities(mut self, bundle: Vec<u8>) -> Self {
        self.authorities = Some(bundle);
        self
    }

    /// The client. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoAuthority`] if the bundle has no certificate; [`ClientError::Setup`].
    pub fn build(self) -> Result<Client, ClientError> {
        let mut http = tls::client()
            .connect_timeout(CONNECTING)
            .user_agent(concat!("irq/", env!("CARGO_PKG_VERSION")))
            // A token goes only to the server that was named.
            .redirect(reqwest::redirect::Policy::none());
        if let Some(bundle) = &self.authorities {
            let found = Certificate::from_pem_bundle(bundle).unwrap_or_default();
            if found.is_empty() {
                return Err(ClientError::NoAuthority);
            }
            http = http.tls_certs_merge(found);
        }
        if self.address.is_this_machine() {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| ClientError::Setup {
            problem: cause_of(&error),
        })?;
        Ok(Client {
            http,
            address: self.address,
            token: self.token,
        })
    }
}

/// Speaks to one server. Clones share its connections.
///
/// Requests that have the same effect if they are sent twice are repeated a few times, for a short while, if their
/// answer is lost. Others end with [`ClientError::Uncertain`] then.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    address: Address,
    token: Option<Token>,
}

impl Client {
    /// The server's address.
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Who the caller is, and the server's version.
    ///
    /// # Errors
    ///
    /// If the server is away, or does not know its caller.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn whoami(&self) -> Result<WhoAmI, ClientError> {
        self.read(&["v1", "whoami"], &[]).await
    }

    /// Reads something that is there.
    pub(crate) async fn read<T: DeserializeOwned>(
        &self,
        parts: &[&str],
        query: &[(&str, String)],
    ) -> Result<T, ClientError> {
        self.answer(Request::to_read(parts, query)).await
    }

    /// Sends a request and returns its answer.
    pub(crate) async fn answer<T: DeserializeOwned>(
        &self,
        ask: Request<'_>,
    ) -> Result<T, ClientError> {
        let (status, body) = self.sent(&ask).await?;
        if !status.is_success() {
            return Err(self.refused(status, ProblemDocument::read(status, &body)));
        }
        self.decoded(&body)
    }

    /// Sends a request that is carried out whole or not at all. Returns what was refused of it, each with its id, or
    /// nothing if all of it was done.
    pub(crate) async fn ask_for_all(
        &self,
        ask: Request<'_>,
    ) -> Result<Option<Vec<(String, ProblemDocument)>>, ClientError> {
        let (status, body) = self.sent(&ask).await?;
        if status.is_success() {
            return Ok(None);
        }
        let problem = ProblemDocument::read(status, &body);
        let parts = problem
            .as_ref()
            .map(ProblemDocument::parts)
            .unwrap_or_default();
        if parts.is_empty() {
            return Err(self.refused(status, problem));
        }
        Ok(Some(parts))
    }

    /// Opens an answer that does not end by itself.
    pub(crate) async fn open(
        &self,
        parts: &[&str],
        query: &[(&str, String)],
        headers: HeaderMap,
    ) -> Result<Response, ClientError> {
        let request = self
            .request(&Request::to_read(parts, query))
            .headers(headers)
            .send();
        let waiting = tokio::time::timeout(ANSWERING, request).await;
        let response = match waiting {
            Ok(sent) => sent.map_err(|error| self.unreachable(&error))?,
            Err(_late) => return Err(self.silent()),
        };
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let body = whole(response).await.unwrap_or_default();
        Err(self.refused(status, ProblemDocument::read(status, &body)))
    }

    fn request(&self, ask: &Request<'_>) -> reqwest::RequestBuilder {
        let url = self.address.at(ask.parts, ask.query);
        let mut request = self.http.request(ask.method.clone(), url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.secret());
        }
        if let Some(version) = ask.version {
            request = request.header("if-match", format!("\"{version}\""));
        }
        if let Some(key) = &ask.key {
            request = request.header("idempotency-key", key);
        }
        match &ask.body {
            Some(body) => request.json(body),
            None => request,
        }
    }

    /// Sends a request, and repeats it if the first attempt cannot have changed anything.
    async fn sent(&self, ask: &Request<'_>) -> Result<(StatusCode, Vec<u8>), ClientError> {
        let mut pauses = PAUSES.into_iter();
        let mut waits = if ask.is_patient { MOST_WAITS } else { 0 };
        loop {
            let (error, asked) = match self.attempt(ask).await {
                Attempt::Answered(StatusCode::GATEWAY_TIMEOUT, _) if waits > 0 => {
                    waits -= 1;
                    continue;
                }
                Attempt::Answered(status, body) => return Ok((status, body)),
                Attempt::Undone(error, asked) => (error, asked),
                Attempt::Unknown(error) if ask.is_repeatable() => (error, None),
                Attempt::Unknown(error) => return Err(ClientError::Uncertain(Box::new(error))),
            };
            let Some(pause) = pauses.next() else {
                return Err(error);
            };
            tokio::time::sleep(asked.unwrap_or(pause).min(LONGEST_PAUSE)).await;
        }
    }

    async fn attempt(&self, ask: &Request<'_>) -> Attempt {
        let exchange = async {
            let response = match self.request(ask).send().await {
                Ok(response) => response,
                Err(error) if error.is_connect() => {
                    return Attempt::Undone(self.unreachable(&error), None);
                }
                Err(error) => return Attempt::Unknown(self.unreachable(&error)),
            };
            let status = response.status();
            let wait = wait_of(&response);
            let body = match whole(response).await {
                Ok(body) => body,
                Err(problem) => {
                    let address = self.address.clone();
                    return Attempt::Unknown(ClientError::CutOff { address, problem });
                }
            };
            let is_busy = matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
            );
            if is_busy && let Some(problem) = ProblemDocument::read(status, &body) {
                // Nothing was accepted: the server's problem document says so.
                return Attempt::Undone(ClientError::Refused(Box::new(problem)), wait);
            }
            Attempt::Answered(status, body)
        };
        match tokio::time::timeout(ANSWERING, exchange).await {
            Ok(attempt) => attempt,
            Err(_late) => Attempt::Unknown(self.silent()),
        }
    }

    fn decoded<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, ClientError> {
        serde_json::from_slice(body).map_err(|error| ClientError::Unreadable {
            address: self.address.clone(),
            problem: error.to_string(),
        })
    }

    fn refused(&self, status: StatusCode, problem: Option<ProblemDocument>) -> ClientError {
        let address = self.address.clone();
        match problem {
            Some(_) if status == StatusCode::UNAUTHORIZED => ClientError::Unknown {
                address,
                has_token: self.token.is_some(),
            },
            Some(problem) => ClientError::Refused(Box::new(problem)),
            None => ClientError::NotOurs {
                address,
                status: status.as_u16(),
            },
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> ClientError {
        ClientError::Unreachable {
            address: self.address.clone(),
            problem: cause_of(error),
        }
    }

    fn silent(&self) -> ClientError {
        ClientError::Silent {
            address: self.address.clone(),
            seconds: ANSWERING.as_secs(),
        }
    }
}

/// The innermost cause: the rest repeats the address.
fn cause_of(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// How long a server asks to wait.
fn wait_of(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    seconds.parse().ok().map(Duration::from_secs)
}

/// A whole body, if it is not too long.
async fn whole(response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| cause_of(&error))?;
        if body.len() + chunk.len() > LONGEST {
            return Err(format!("it is longer than {} MB", LONGEST >> 20));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
