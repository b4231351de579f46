//! The page of this machine that a person comes back to with the answer to a login (RFC 8252, section 7.3).

use std::io;
use std::net::Ipv4Addr;

use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::routing::get;
use reqwest::Url;
use rmcp::transport::auth::AuthorizationCallback;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// The path that the answer comes to.
const PATH: &str = "/callback";

/// The answer to a login: a code, or the words of a refusal.
type LoginAnswer = Result<AuthorizationCallback, String>;

/// A page that waits for one answer.
pub(super) struct Landing {
    listener: TcpListener,
    /// Where it is.
    pub(super) address: Url,
}

impl Landing {
    /// Opens the page on this port, else on a free one.
    pub(super) async fn open(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let address = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self {
            listener,
            address: Url::parse(&address).map_err(io::Error::other)?,
        })
    }

    /// Waits for the answer to the login that `state` marks. A request with another mark is none: any page of the web
    /// can send one here.
    pub(super) async fn answer(self, state: String) -> io::Result<LoginAnswer> {
        let (sender, mut answers) = mpsc::channel(1);
        let address = self.address;
        let visited = async move |uri: Uri| {
            let answer = address.join(&uri.to_string()).ok();
            let answer = answer.and_then(|url| answer_in(&url, &state));
            let (status, words) = match &answer {
                Some(Ok(_code)) => (
                    StatusCode::OK,
                    "You can close this page and go back to the terminal.",
                ),
                Some(Err(_refusal)) => (
                    StatusCode::OK,
                    "The login was refused. The terminal says more.",
                ),
                None => (StatusCode::NOT_FOUND, "No login waits for this."),
            };
            if let Some(answer) = answer {
                // The first answer counts.
                let _later = sender.try_send(answer);
            }
            let headers = [
                (header::CACHE_CONTROL, "no-store"),
                (header::REFERRER_POLICY, "no-referrer"),
            ];
            (status, headers, words)
        };
        let page = Router::new().route(PATH, get(visited));
        tokio::select! {
            Some(answer) = answers.recv() => Ok(answer),
            served = async { axum::serve(self.listener, page).await } => {
                Err(served.err().unwrap_or_else(|| io::ErrorKind::NotConnected.into()))
            }
        }
    }
}

/// The answer to the login that `state` marks, where a request is one.
fn answer_in(url: &Url, state: &str) -> Option<LoginAnswer> {
    let value = |wanted: &str| {
        let mut pairs = url.query_pairs();
        let (_name, value) = pairs.find(|(name, _value)| name == wanted)?;
        Some(value.into_owned())
    };
    value("state").filter(|given| given == state)?;
    // RFC 6749, section 4.1.2.1
    if let Some(error) = value("error") {
        let more = value("error_description").map(|words| format!(": {words}"));
        return Some(Err(format!("{error}{}", more.unwrap_or_default())));
    }
    AuthorizationCallback::from_redirect_url(url.as_str())
        .ok()
        .map(Ok)
}
