//! Between a server and its requests: each gets the token that there is, and if that is not enough there is a login.

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
use super::terms::LoginTerms;
use crate::mcp::config::HttpServer;
use crate::mcp::connection::words;
use crate::mcp::error::McpError;
use crate::mcp::listening::Listening;
use crate::mcp::name::ServerName;

/// How often one request may lead to a login. A server that is never content must not send a person in circles.
const MOST_LOGINS: u32 = 2;

type Manager = Arc<tokio::sync::Mutex<AuthorizationManager>>;

/// Puts the token into a server's requests, and logs in if that is not enough.
pub(in crate::mcp) struct TokenMiddleware {
    server: ServerName,
    url: String,
    terms: LoginTerms,
    /// Its configuration says what to send: then there is no login.
    has_own_token: bool,
    keep: Arc<Keep>,
    guide: Arc<dyn LoginGuide>,
    /// Where the newest connection takes its tokens from.
    current: std::sync::Mutex<Option<Manager>>,
    /// The mark of the token that was there when it began.
    known: std::sync::Mutex<Option<u64>>,
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
            server: server.clone(),
            url: address.url.clone(),
            terms: address.login.clone(),
            has_own_token,
            keep: Keep::of(folder, server, &address.url),
            guide,
            current: std::sync::Mutex::default(),
            known: std::sync::Mutex::default(),
            one_at_a_time: tokio::sync::Mutex::default(),
            logins: AtomicU64::new(0),
        }
    }

    fn flow(&self) -> Flow<'_> {
        Flow {
            server: &self.server,
            url: &self.url,
            terms: &self.terms,
            keep: &self.keep,
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
        let manager = self.restored().await?;
        let client = AuthClient::new(inner, manager);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::clone(&client.auth_manager));
        Ok(client)
    }

    /// Forgets what is kept of the login.
    pub(in crate::mcp) fn forget(&self) -> std::io::Result<()> {
        self.keep.forget()
    }

    async fn restored(&self) -> Result<AuthorizationManager, McpError> {
        self.remember();
        let restored = self.flow().restored().await;
        restored.map_err(|error| self.failed(&error))
    }

    /// What an earlier login could not grant because no person was there, if one is there now.
    pub(in crate::mcp) fn still_wanted(&self) -> Option<Challenge> {
        let kept = self.keep.read().ok().flatten()?;
        let is_due = !kept.wanted.is_empty() && self.guide.has_person();
        // This login is what is not enough, not one that another process has made since.
        self.remember();
        is_due.then_some(Challenge {
            header: kept.challenge,
            wants_more: true,
        })
    }

    /// Does what a server demands; the request may be sent again then. `since` is what [`TokenMiddleware::logins`] said before it
    /// was sent, `time` how often it was refused.
    pub(in crate::mcp) async fn answer(
        &self,
        challenge: &Challenge,
        since: u64,
        time: u32,
    ) -> Result<(), McpError> {
        let _one = self.one_at_a_time.lock().await;
        if self.logins() != since {
            return Ok(());
        }
        let refused = |reason: &str| McpError::LoginFailed {
            server: self.server.clone(),
            reason: reason.to_owned(),
        };
        if self.has_own_token {
            let reason = "it refuses the `Authorization` of its `headers`; give another one, or none for a login";
            return Err(refused(reason));
        }
        if time > MOST_LOGINS {
            return Err(refused("it refuses the request with what was granted, too"));
        }
        let manager = if self.has_changed() {
            self.restored().await?
        } else {
            if !self.guide.has_person() {
                return Err(self.wanted(challenge));
            }
            let manager = self.flow().by_person(challenge, &*self.guide).await;
            manager.map_err(|error| self.failed(&error))?
        };
        self.remember();
        let current = self
            .current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(current) = current {
            *current.lock().await = manager;
        }
        self.logins.fetch_add(1, Ordering::SeqCst);
        tracing::info!(server = %self.server, "an MCP server was logged in to");
        Ok(())
    }

    /// A person is needed and none is there. The next login asks for what this one lacks.
    fn wanted(&self, challenge: &Challenge) -> McpError {
        let scopes = challenge.scopes(&self.url);
        if challenge.wants_more
            && let Ok(Some(mut kept)) = self.keep.read()
        {
            let new = scopes.iter().filter(|scope| !kept.wanted.contains(scope));
            let new: Vec<String> = new.cloned().collect();
            kept.wanted.extend(new);
            if let Err(error) = self.keep.write(kept) {
                tracing::warn!(server = %self.server, %error, "what a login lacks could not be kept");
            }
        }
        McpError::LoginWanted {
            server: self.server.clone(),
            scopes: if challenge.wants_more {
                scopes
            } else {
                Vec::new()
            },
        }
    }

    fn failed(&self, error: &FlowError) -> McpError {
        McpError::LoginFailed {
            server: self.server.clone(),
            reason: words(error),
        }
    }

    fn mark(&self) -> Option<u64> {
        let kept = self.keep.read().ok().flatten()?;
        kept.mark()
    }

    fn remember(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = self.mark();
    }

    /// Whether another process has logged in since.
    fn has_changed(&self) -> bool {
        let now = self.mark();
        let known = *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        now.is_some() && now != known
    }
}
