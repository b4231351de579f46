//! Requests to a server: bounded in time and size, sent again only where that changes nothing.

use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Certificate, Method, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::address::{Address, Token};
use super::refusal::ProblemDocument;
use crate::authority;
use crate::exit::{Exit, Failure, causes};
use crate::installation::ServerPlace;

/// How long a connection may take to stand.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long an answer may take, whole.
const ANSWERING: Duration = Duration::from_secs(40);
/// The most bytes of an answer.
const LONGEST: usize = 64 << 20;
/// How long to wait before each further attempt.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1500),
];
/// How often an answer that was not there in time is asked for again, where that is reasonable.
const MOST_WAITS: u32 = 20;
/// The longest wait that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Who the caller is to the server, and what answers him.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct WhoAmI {
    /// The name that stands in the audit.
    pub(crate) name: String,
    /// What he may do.
    pub(crate) role: String,
    /// The run that an agent's token is bound to.
    #[serde(default)]
    pub(crate) run_id: Option<String>,
    /// The agent of that run that it is bound to.
    #[serde(default)]
    pub(crate) agent_id: Option<String>,
    /// The version of the program that answers.
    pub(crate) version: String,
    /// The last position of the feed.
    pub(crate) seq: String,
}

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Ask<'a> {
    method: Method,
    parts: &'a [&'a str],
    query: &'a [(&'a str, String)],
    body: Option<Value>,
    version: Option<u64>,
    key: Option<String>,
    is_patient: bool,
}

impl<'a> Ask<'a> {
    /// A request that only reads.
    pub(super) fn to_read(parts: &'a [&'a str], query: &'a [(&'a str, String)]) -> Self {
        Self {
            query,
            ..Self::to_change(Method::GET, parts)
        }
    }

    /// A request that changes something.
    pub(super) const fn to_change(method: Method, parts: &'a [&'a str]) -> Self {
        Self {
            method,
            parts,
            query: &[],
            body: None,
            version: None,
            key: None,
            is_patient: false,
        }
    }

    /// With a body.
    pub(super) fn with(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    /// Only where the interrupt still has the version that was seen.
    pub(super) const fn of_version(mut self, version: u64) -> Self {
        self.version = Some(version);
        self
    }

    /// With a key, so that it is one request however often it is sent.
    pub(super) fn once(mut self) -> Self {
        self.key = Some(format!("irq-{}", Uuid::now_v7().simple()));
        self
    }

    /// Waits longer than one answer may take: sent again with its key, it is told what came of the first time.
    pub(super) const fn patiently(mut self) -> Self {
        self.is_patient = true;
        self
    }

    /// With a key that somebody chose.
    pub(super) fn keyed(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Whether sending it twice is as sending it once.
    fn is_repeatable(&self) -> bool {
        self.key.is_some() || matches!(self.method, Method::GET | Method::PUT)
    }
}

/// An answer that is no refusal.
#[derive(Debug)]
pub(super) struct ServerAnswer<T> {
    pub(super) status: StatusCode,
    pub(super) body: T,
}

/// What became of one attempt.
enum Attempt {
    Answered(StatusCode, Vec<u8>),
    /// It did not reach the server, or the server has not done it for sure.
    Undone(Failure, Option<Duration>),
    /// Nobody knows whether it was done.
    Unknown(Failure),
}

/// Speaks to one server. Clones share its connections.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    address: Address,
    token: Option<Token>,
}

impl Client {
    /// A client for a place. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Where the address, the token's file or that of the authorities cannot be read.
    pub(crate) fn at(place: &ServerPlace) -> Result<Self, Failure> {
        let address = Address::parse(&place.url)?;
        let token = place.token_file.as_deref().map(Token::read).transpose()?;
        let mut http = reqwest::Client::builder()
            .connect_timeout(CONNECTING)
            .user_agent(concat!("irq/", env!("CARGO_PKG_VERSION")))
            // A token goes to the server that was named, and nowhere else.
            .redirect(reqwest::redirect::Policy::none());
        if let Some(file) = &place.ca_certificate {
            http = http.tls_certs_merge(authorities(file)?);
        }
        if address.is_this_machine() {
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
        Ok(Self {
            http,
            address,
            token,
        })
    }

    /// The server's address.
    pub(crate) const fn address(&self) -> &Address {
        &self.address
    }

    /// Who the caller is, and which version answers.
    ///
    /// # Errors
    ///
    /// [`Exit::Unreachable`] or [`Exit::NotAuthorised`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(crate) async fn whoami(&self) -> Result<WhoAmI, Failure> {
        self.read(&["v1", "whoami"], &[]).await
    }

    /// Reads something that is there.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        parts: &[&str],
        query: &[(&str, String)],
    ) -> Result<T, Failure> {
        let answer = self.ask(Ask::to_read(parts, query)).await?;
        Ok(answer.body)
    }

    /// Reads something that may not be there.
    pub(super) async fn find<T: DeserializeOwned>(
        &self,
        parts: &[&str],
    ) -> Result<Option<T>, Failure> {
        match self.sent(&Ask::to_read(parts, &[])).await? {
            (status, body) if status.is_success() => self.decoded(&body).map(Some),
            (status, body) => match ProblemDocument::read(&body) {
                Some(refusal) if refusal.is_absence() => Ok(None),
                refusal => Err(self.refused(status, refusal)),
            },
        }
    }

    /// Sends a request to its answer.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        ask: Ask<'_>,
    ) -> Result<ServerAnswer<T>, Failure> {
        let (status, body) = self.sent(&ask).await?;
        if !status.is_success() {
            return Err(self.refused(status, ProblemDocument::read(&body)));
        }
        let body = self.decoded(&body)?;
        Ok(ServerAnswer { status, body })
    }

    /// Sends a request that is carried out whole or not at all: what was refused of it, each with its id, or
    /// nothing where all of it was done.
    pub(super) async fn ask_for_all(
        &self,
        ask: Ask<'_>,
    ) -> Result<Option<Vec<(String, Failure)>>, Failure> {
        let (status, body) = self.sent(&ask).await?;
        if status.is_success() {
            return Ok(None);
        }
        let refusal = ProblemDocument::read(&body);
        let parts = refusal
            .as_ref()
            .map(ProblemDocument::parts)
            .unwrap_or_default();
        if parts.is_empty() {
            return Err(self.refused(status, refusal));
        }
        Ok(Some(parts))
    }

    /// Opens an answer that does not end by itself.
    pub(super) async fn open(
        &self,
        parts: &[&str],
        query: &[(&str, String)],
        headers: HeaderMap,
    ) -> Result<Response, Failure> {
        let request = self
            .request(&Ask::to_read(parts, query))
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
        Err(self.refused(status, ProblemDocument::read(&body)))
    }

    fn request(&self, ask: &Ask<'_>) -> reqwest::RequestBuilder {
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

    /// Sends a request, and again where the first time cannot have changed anything.
    async fn sent(&self, ask: &Ask<'_>) -> Result<(StatusCode, Vec<u8>), Failure> {
        let mut pauses = PAUSES.into_iter();
        let mut waits = if ask.is_patient { MOST_WAITS } else { 0 };
        loop {
            let (failure, asked) = match self.attempt(ask).await {
                Attempt::Answered(StatusCode::GATEWAY_TIMEOUT, _) if waits > 0 => {
                    waits -= 1;
                    continue;
                }
                Attempt::Answered(status, body) => return Ok((status, body)),
                Attempt::Undone(failure, asked) => (failure, asked),
                Attempt::Unknown(failure) if ask.is_repeatable() => (failure, None),
                Attempt::Unknown(failure) => {
                    return Err(failure
                        .hint("whether it was done is not known: look before you do it again"));
                }
            };
            let Some(pause) = pauses.next() else {
                return Err(failure);
            };
            tokio::time::sleep(asked.unwrap_or(pause).min(LONGEST_PAUSE)).await;
        }
    }

    async fn attempt(&self, ask: &Ask<'_>) -> Attempt {
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
                Err(problem) => return Attempt::Unknown(self.cut_off(&problem)),
            };
            let is_busy = matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
            );
            if is_busy && let Some(refusal) = ProblemDocument::read(&body) {
                // Nothing was accepted: the server says so by the problem.
                return Attempt::Undone(refusal.failure(status), wait);
            }
            Attempt::Answered(status, body)
        };
        match tokio::time::timeout(ANSWERING, exchange).await {
            Ok(attempt) => attempt,
            Err(_late) => Attempt::Unknown(self.silent()),
        }
    }

    fn decoded<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, Failure> {
        serde_json::from_slice(body).map_err(|error| {
            let text = format!("the answer of {} cannot be read: {error}", self.address);
            Failure::new(Exit::Failure, text).hint(format!(
                "`irq doctor --server {}` compares the versions of the server and this program",
                self.address
            ))
        })
    }

    fn refused(&self, status: StatusCode, refusal: Option<ProblemDocument>) -> Failure {
        match refusal {
            Some(_) if status == StatusCode::UNAUTHORIZED => self.unknown_here(),
            Some(refusal) => refusal.failure(status),
            None => {
                let text = format!("{} answers {status}, and is no irq server", self.address);
                Failure::new(Exit::Unreachable, text)
                    .hint("look at the address: `irq serve` prints its own")
            }
        }
    }

    fn unknown_here(&self) -> Failure {
        let make =
            "`irq token create --name NAME --role ROLE > FILE` beside the server's store makes one";
        match self.token {
            Some(_) => Failure::new(
                Exit::NotAuthorised,
                format!("{} does not know this token: it was revoked, has expired, or is of another server", self.address),
            )
            .hint(make),
            None => Failure::new(
                Exit::NotAuthorised,
                format!("{} asks who you are, and no token is named", self.address),
            )
            .hint(format!("name its file: --token-file FILE, or IRQ_TOKEN_FILE; {make}")),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let text = format!(
            "cannot reach the server {}: {}",
            self.address,
            cause_of(error)
        );
        if text.contains("certificate") {
            return Failure::new(Exit::Unreachable, text).hint(
                "--ca-certificate FILE names the authority that has signed it, where that is one of your own",
            );
        }
        self.hinted(text)
    }

    fn cut_off(&self, problem: &str) -> Failure {
        self.hinted(format!(
            "the answer of {} was cut off: {problem}",
            self.address
        ))
    }

    fn silent(&self) -> Failure {
        let seconds = ANSWERING.as_secs();
        self.hinted(format!(
            "{} has not answered within {seconds} s",
            self.address
        ))
    }

    fn hinted(&self, text: String) -> Failure {
        Failure::new(Exit::Unreachable, text).hint(format!(
            "`irq doctor --server {}` says what is wrong; `irq serve` starts one here",
            self.address
        ))
    }
}

/// The authorities in a file.
fn authorities(file: &Path) -> Result<Vec<Certificate>, Failure> {
    let found = Certificate::from_pem_bundle(&authority::read(file)?).unwrap_or_default();
    if found.is_empty() {
        return Err(authority::none_in(file, "it holds no certificate"));
    }
    Ok(found)
}

/// What lies at the bottom of it: the rest repeats the address.
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

/// A whole body, where it is not too long.
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
