//! Sessions of the page: a secret in a cookie that scripts cannot read and other sites cannot use.

use axum::http::HeaderMap;
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};
use control::{Caller, Credential, NotDone, TokenOrder, issue_bought};
use interrupts::life::Actor;
use interrupts::store::Tokens;

use super::caller::Proof;
use crate::app::App;
use crate::problem::Problem;

/// The cookie of this server's sessions. Browsers keep cookies by host and not by port, so its name says which server
/// of the host it belongs to.
#[derive(Debug, Clone)]
pub(crate) struct SessionCookie {
    name: String,
    is_secure: bool,
}

impl SessionCookie {
    /// The cookie of the server at a port. A secure one is sent only over TLS, and only to this very host.
    pub(crate) fn new(port: u16, is_secure: bool) -> Self {
        let prefix = if is_secure { "__Host-" } else { "" };
        Self {
            name: format!("{prefix}irq_session_{port}"),
            is_secure,
        }
    }

    /// The secret of the session that a request names.
    pub(crate) fn secret_in(&self, headers: &HeaderMap) -> Option<String> {
        let jar = CookieJar::from_headers(headers);
        Some(jar.get(&self.name)?.value().to_owned())
    }

    /// The cookie with the secret of a session.
    pub(crate) fn holding(&self, secret: String) -> Cookie<'static> {
        Cookie::build((self.name.clone(), secret))
            .path("/")
            .http_only(true)
            .secure(self.is_secure)
            .same_site(SameSite::Strict)
            .build()
    }

    /// The cookie that takes the session's place when it ends.
    pub(crate) fn void(&self) -> Cookie<'static> {
        let mut cookie = self.holding(String::new());
        cookie.make_removal();
        cookie
    }
}

/// Begins a session for a caller who showed a token. It outlives the server, and ends with that token.
pub(crate) async fn begin_session(
    app: &App,
    (caller, proof): (Caller, Proof),
) -> Result<String, NotDone> {
    let order = TokenOrder {
        name: caller.actor.name.clone(),
        role: caller.actor.role,
        lifetime: Some(app.config.limits.session),
        once: false,
        scope: caller.reach.0,
        by: Some(caller.actor),
    };
    let tokens: &dyn interrupts::store::Store = app.store();
    let issued = issue_bought(tokens, Credential::Session, order, proof.lasting).await?;
    Ok(issued.secret)
}

/// Ends a session.
pub(crate) async fn end_session(app: &App, secret: &str, by: Actor) -> Result<(), Problem> {
    if let Some(digest) = Credential::Session.digest_of(secret) {
        Tokens::revoke_token(app.store(), digest, Some(by)).await?;
        app.staying.look();
    }
    Ok(())
}
