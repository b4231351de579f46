//! Sessions of the page: a token in a cookie that scripts cannot read and other sites cannot use.

use axum_extra::extract::cookie::{Cookie, SameSite};
use interrupts::life::Actor;
use interrupts::store::Tokens;

use super::caller::Caller;
use super::token::{IssueError, TokenOrder, digest_of_presented, issue_session};
use crate::app::App;
use crate::problem::{Problem, of_store};

/// The name of the cookie.
pub(crate) const SESSION_COOKIE: &str = "irq_session";

/// Begins a session of somebody who showed a token. It outlives the server, and ends with that token.
pub(crate) async fn begin_session(app: &App, caller: Caller) -> Result<String, IssueError> {
    let of = caller.lasting();
    let order = TokenOrder {
        name: caller.actor.name.clone(),
        role: caller.actor.role,
        lifetime: Some(app.config.limits.session),
        once: false,
        scope: caller.scope,
        by: Some(caller.actor),
    };
    let tokens: &dyn interrupts::store::Store = app.store();
    let issued = issue_session(tokens, order, of).await?;
    Ok(issued.secret)
}

/// Ends a session.
pub(crate) async fn end_session(app: &App, secret: &str, by: Actor) -> Result<(), Problem> {
    if let Some(digest) = digest_of_presented(secret) {
        Tokens::revoke_token(app.store(), digest, Some(by))
            .await
            .map_err(|error| of_store(&error))?;
        app.staying.look();
    }
    Ok(())
}

/// The cookie of a session.
pub(crate) fn session_cookie(secret: String) -> Cookie<'static> {
    Cookie::build((SESSION_COOKIE, secret))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .build()
}

/// The cookie that takes the session's place when it ends.
pub(crate) fn void_session_cookie() -> Cookie<'static> {
    let mut cookie = session_cookie(String::new());
    cookie.make_removal();
    cookie
}
