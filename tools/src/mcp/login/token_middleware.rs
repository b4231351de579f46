//! Between a server and its requests: each gets the token that there is, and if that is not enough there is a login.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use http::header::AUTHORIZATION;
use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::AuthClient;

use super::challenge::Challenge;
use super::flow::{Flow, FlowError};
use super::guide::LoginGuide;
use super::stored_login::Keep;
use crate::mcp::config::HttpServer;
use crate::mcp::connection::words;
use crate::mcp::error::McpError;
use crate::mcp::listening::Listening;
use crate::mcp::name::ServerName;

/// How often one request may be refused and sent again. A server that is never content must not send a person in circles.
const MOST_LOGINS: u32 = 2;

type Manager = Arc<tokio::sync::Mutex<AuthorizationManager>>;

/// Puts the token into a server's requests, and logs in if that is not enough.
pub(in crate::mcp) struct TokenMiddleware {
    flow: Flow,
    /// Its configuration says what to send: then there is no login.
    has_own_token: bool,
    guide: Arc<dyn LoginGuide>,
    /// Where the newest connection takes its tokens from.
    current: std::sync::Mutex<Option<Manager>>,
    one_at_a_time: tokio::sync::Mutex<()>,
    logins: AtomicU64,
}

impl TokenMiddleware {
    /// The middleware of a server.
    pub(in crate::mcp) fn of(
        server: &ServerName,
        address: &HttpServer,
        folder: Option<&Path>,
        guide: Arc<dyn LoginGuide>,
    ) -> Self {
        let has_own_token = address.headers.contains_key(AUTHORIZATION);
        let folder = folder.filter(|_folder| !has_own_token);
        Self {
            flow: Flow {
                server: server.clone(),
                url: address.url.clone(),
                terms: address.login.clone(),
                keep: Keep::of(folder, server, &address.url),
            },
            has_own_token,
            guide,
            current: std::sync::Mutex::default(),
            one_at_a_time: tokio::sync::Mutex::default(),
            logins: AtomicU64::new(0),
        }
    }

    /// Counts the logins, so that a request that was refused knows whether there was one since.
    pub(in crate::mcp) fn logins(&self) -> u64 {
        self.logins.load(Ordering::SeqCst)
    }

    /// The way to the server, whose requests carry what token there is.
    pub(in crate::mcp) async fn client(
        &self,
        inner: Listening,
    ) -> Result<AuthClient<Listening>, McpError> {
        let manager = self.flow.restored().await;
        let client = AuthClient::new(inner, manager.map_err(|error| self.failed(&error))?);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::clone(&client.auth_manager));
        Ok(client)
    }

    /// Forgets what is kept of the login.
    pub(in crate::mcp) fn forget(&self) -> std::io::Result<()> {
        self.flow.keep.forget()
    }

    /// The login that an error of the way to the server demands, if so.
    pub(in crate::mcp) fn demanded(&self, error: &(dyn Error + 'static)) -> Option<McpError> {
        let Challenge { header, lacks } = Challenge::in_error(error, &self.flow.url)?;
        Some(McpError::LoginWanted {
            server: self.flow.server.clone(),
            challenge: header,
            scopes: lacks,
        })
    }

    /// Does what a server demands; the request may be sent again then. `scopes` is what its token lacked, `since` what
    /// [`TokenMiddleware::logins`] said before the request was sent, `time` how often it was refused.
    pub(in crate::mcp) async fn answer(
        &self,
        challenge: Option<String>,
        mut scopes: Vec<String>,
        since: u64,
        time: u32,
    ) -> Result<(), McpError> {
        let _one = self.one_at_a_time.lock().await;
        if self.logins() != since {
            return Ok(());
        }
        let server = self.flow.server.clone();
        let refused = |reason: &str| McpError::LoginFailed {
            server: server.clone(),
            reason: reason.to_owned(),
        };
        if self.has_own_token {
            let reason = "it refuses the `Authorization` of its `headers`; give another one, or none for a login";
            return Err(refused(reason));
        }
        if time > MOST_LOGINS {
            return Err(refused("it refuses the request with what was granted, too"));
        }
        let kept = self.flow.keep.read().ok().flatten();
        let manager = if time == 1 && kept.is_some() {
            // Another process may have logged in since.
            self.flow.restored().await
        } else {
            if !scopes.is_empty() {
                // So that nothing is lost that it has granted by now. One that grants none may say so with an empty one.
                let granted = kept.and_then(|kept| kept.credentials).into_iter();
                let granted = granted.flat_map(|credentials| credentials.granted_scopes);
                scopes.splice(0..0, granted.filter(|scope| !scope.is_empty()));
            }
            if !self.guide.has_person() {
                return Err(McpError::LoginWanted {
                    server,
                    challenge,
                    scopes,
                });
            }
            let granted = self.flow.by_person(challenge, &scopes, &*self.guide).await;
            granted.inspect(|_manager| {
                tracing::info!(server = %self.flow.server, "an MCP server was logged in to");
            })
        };
        let manager = manager.map_err(|error| self.failed(&error))?;
        let current = self
            .current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(current) = current {
            *current.lock().await = manager;
        }
        self.logins.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn failed(&self, error: &FlowError) -> McpError {
        McpError::LoginFailed {
            server: self.flow.server.clone(),
            reason: words(error),
        }
    }
}
