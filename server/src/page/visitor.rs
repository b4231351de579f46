//! Whoever looks at the page, and how he comes in.

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use interrupts::store::{TokenRow, Tokens};
use maud::html;

use super::layout::{Place, banner, page, refused};
use crate::access::{
    Caller, Credential, Peer, Right, SESSION_COOKIE, begin_session, digest_of_presented,
    end_session, session_cookie, void_session_cookie,
};
use crate::app::App;
use crate::body::FormFields;
use crate::problem::{Kind, Problem, of_store};

/// The parameter of the address that holds the launch token.
const LAUNCH: &str = "launch";

/// Somebody who may look at the page.
pub(super) struct Visitor(pub(super) Caller);

impl FromRequestParts<App> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let query = parts.uri.query().unwrap_or_default();
        let launch = url::form_urlencoded::parse(query.as_bytes())
            .find(|(name, _)| name == LAUNCH)
            .map(|(_, secret)| secret.into_owned());
        if let Some(secret) = launch {
            let peer = parts.extensions.get::<Peer>().copied();
            // The address with the secret is left at once, whether it was good or not.
            return Err(match by_address(app, &secret, peer).await {
                Ok(response) => response,
                Err(problem) => refused(&problem, None),
            });
        }
        let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
            return Err(entrance(None));
        };
        match Right::Read.demand(&caller) {
            Ok(()) => Ok(Self(caller)),
            Err(problem) => Err(refused(&problem, Some(&caller))),
        }
    }
}

/// The page for those who are not known.
fn entrance(problem: Option<&Problem>) -> Response {
    let body = html! {
        h1 { "Come in" }
        @if let Some(problem) = problem { (banner(problem)) }
        p { "Open the address that " code { "irq serve" } " has printed: it lets you in once. Or give a token:" }
        form method="post" action="/session" class="stack" {
            label for="token" { "Token" }
            input id="token" name="token" type="password" autocomplete="off" required;
            p.hint { "Make one with " code { "irq token create --role reviewer" } "." }
            button type="submit" { "Come in" }
        }
    };
    let page = page("Come in", Place::Elsewhere, None, &body);
    (StatusCode::UNAUTHORIZED, page).into_response()
}

/// Begins a session with a token that was typed in.
pub(super) async fn begin(
    State(app): State<App>,
    peer: Option<axum::Extension<Peer>>,
    headers: axum::http::HeaderMap,
    fields: FormFields,
) -> Response {
    // Without it another site could make somebody act under a name that is not his.
    if !headers.contains_key(header::ORIGIN) {
        return entrance(None);
    }
    let secret = fields.first("token").unwrap_or_default();
    let token = match used(&app, secret).await {
        Ok(token) => token,
        Err(problem) => return refused(&problem, None),
    };
    match let_in(&app, token, peer.map(|peer| peer.0)).await {
        Ok(Some(response)) => response,
        Ok(None) => entrance(Some(&Caller::nobody())),
        Err(problem) => refused(&problem, None),
    }
}

/// Trades the secret of an address for a session. Addresses are kept, shared and logged: only what is void after its
/// first use may stand in one.
async fn by_address(app: &App, secret: &str, peer: Option<Peer>) -> Result<Response, Problem> {
    let token = used(app, secret).await?;
    if token.as_ref().is_some_and(|token| !token.once) {
        return Ok(entrance(Some(&Problem::new(
            Kind::Unauthenticated,
            "the address holds a token that lasts; an address lets in only by a token for one use",
            "type the token in below; where the address was passed on or kept, make the token void: `irq token revoke`",
        ))));
    }
    let let_in = let_in(app, token, peer).await?;
    Ok(let_in.unwrap_or_else(|| entrance(None)))
}

/// The token of a secret, where it holds. One that can be used once is void afterwards.
async fn used(app: &App, secret: &str) -> Result<Option<TokenRow>, Problem> {
    let Some(digest) = digest_of_presented(secret) else {
        return Ok(None);
    };
    let token = Tokens::use_token(app.store(), digest).await;
    token.map_err(|error| of_store(&error))
}

/// Trades a token for a session.
async fn let_in(
    app: &App,
    token: Option<TokenRow>,
    peer: Option<Peer>,
) -> Result<Option<Response>, Problem> {
    let Some(caller) = token.and_then(|token| Caller::of(token, Credential::Session)) else {
        if let Some(Peer(peer)) = peer {
            app.pace.failure(peer)?;
        }
        return Ok(None);
    };
    let session = begin_session(app, caller)
        .await
        .map_err(|error| crate::routes::not_issued(&error))?;
    let jar = CookieJar::new().add(session_cookie(session));
    let mut response = (jar, Redirect::to("/")).into_response();
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(Some(response))
}

/// Ends the session.
pub(super) async fn end(
    State(app): State<App>,
    Visitor(caller): Visitor,
    jar: CookieJar,
) -> Response {
    if let Some(cookie) = jar.get(SESSION_COOKIE)
        && let Err(problem) = end_session(&app, cookie.value(), caller.actor.clone()).await
    {
        return refused(&problem, Some(&caller));
    }
    (
        CookieJar::new().add(void_session_cookie()),
        Redirect::to("/"),
    )
        .into_response()
}
