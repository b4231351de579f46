//! The reader of the page, and how a reader logs in.

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use control::{Caller, Credential, Right, as_called};
use interrupts::store::{TokenRow, Tokens};
use maud::html;

use super::layout::{NavigationItem, banner, page, refused};
use crate::access::{Peer, begin_session, caller_with, end_session, unauthenticated};
use crate::app::App;
use crate::body::FormFields;
use crate::problem::{Code, Problem};

/// The parameter of the address that contains the launch token.
const LAUNCH: &str = "launch";

/// A caller who may see the page.
pub(super) struct Visitor(pub(super) Caller);

impl FromRequestParts<App> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let query = parts.uri.query().unwrap_or_default();
        let launch = url::form_urlencoded::parse(query.as_bytes())
            .find(|(name, _)| name == LAUNCH)
            .map(|(_, secret)| secret.into_owned());
        let to = wanted(&parts.uri);
        if let Some(secret) = launch {
            let peer = parts.extensions.get::<Peer>().copied();
            // The browser is redirected away from the address with the secret at once, whether the secret was good or not.
            return Err(match by_address(app, &secret, peer, &to).await {
                Ok(response) => response,
                Err(problem) => refused(&problem, None),
            });
        }
        let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
            return Err(entrance(None, &to));
        };
        match Right::Survey.demand(&caller) {
            Ok(()) => Ok(Self(caller)),
            Err(refusal) => Err(refused(&refusal.into(), Some(&caller))),
        }
    }
}

/// What the reader wanted to see, without the secret that may be in the address.
fn wanted(uri: &Uri) -> String {
    let query = uri.query().unwrap_or_default();
    let mut rest = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if name != LAUNCH {
            rest.append_pair(&name, &value);
        }
    }
    let rest = rest.finish();
    let mark = if rest.is_empty() { "" } else { "?" };
    format!("{}{mark}{rest}", uri.path())
}

/// A path of this server: what a browser could take for another host's address becomes the inbox instead.
fn of_this_server(path: &str) -> &str {
    let is_path = path.starts_with('/') && !path.starts_with("//");
    let is_plain = path
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_path && is_plain { path } else { "/" }
}

/// The page for unknown readers. After logging in, the reader goes on to what they wanted to see.
fn entrance(problem: Option<&Problem>, to: &str) -> Response {
    let body = html! {
        h1 { "Sign in" }
        @if let Some(problem) = problem { (banner(problem)) }
        p { "Open the address that " code { (as_called("irq serve")) } " has printed: it lets you in once. Or give a token:" }
        form method="post" action="/session" class="stack" {
            input type="hidden" name="to" value=(of_this_server(to));
            label for="token" { "Token" }
            input id="token" name="token" type="password" autocomplete="off" required;
            p.hint { "Make one with " code { (as_called("irq token create --name NAME --role reviewer")) } "." }
            button type="submit" { "Sign in" }
        }
    };
    let page = page("Sign in", NavigationItem::Elsewhere, None, &body);
    (StatusCode::UNAUTHORIZED, page).into_response()
}

/// Begins a session with a token that was typed in.
pub(super) async fn begin(
    State(app): State<App>,
    peer: Option<axum::Extension<Peer>>,
    headers: axum::http::HeaderMap,
    fields: FormFields,
) -> Response {
    let to = fields.first("to").unwrap_or("/");
    // Without it another site could make a person act under a name that is not theirs.
    if !headers.contains_key(header::ORIGIN) {
        return entrance(None, to);
    }
    let secret = fields.first("token").unwrap_or_default();
    let token = match used(&app, secret).await {
        Ok(token) => token,
        Err(problem) => return refused(&problem, None),
    };
    match let_in(&app, token, peer.map(|peer| peer.0), to).await {
        Ok(Some(response)) => response,
        Ok(None) => entrance(Some(&unauthenticated()), to),
        Err(problem) => refused(&problem, None),
    }
}

/// Trades the secret of an address for a session. Addresses are kept, shared and logged: only a one-time secret may be
/// in one.
async fn by_address(
    app: &App,
    secret: &str,
    peer: Option<Peer>,
    to: &str,
) -> Result<Response, Problem> {
    let token = used(app, secret).await?;
    if token.as_ref().is_some_and(|token| !token.once) {
        let problem = Problem::new(
            Code::Unauthenticated,
            "the address holds a token that lasts; an address lets in only by a token for one use",
            "type the token in below; where the address was passed on or kept, make the token void: `irq token revoke`",
        );
        return Ok(entrance(Some(&problem), to));
    }
    let let_in = let_in(app, token, peer, to).await?;
    Ok(let_in.unwrap_or_else(|| entrance(None, to)))
}

/// The token of a secret, if it is valid. A one-time token is void afterwards.
async fn used(app: &App, secret: &str) -> Result<Option<TokenRow>, Problem> {
    let Some(digest) = Credential::Bearer.digest_of(secret) else {
        return Ok(None);
    };
    let token = Tokens::use_token(app.store(), digest).await;
    Ok(token?)
}

/// Trades a token for a session, and redirects to the wanted page.
async fn let_in(
    app: &App,
    token: Option<TokenRow>,
    peer: Option<Peer>,
    to: &str,
) -> Result<Option<Response>, Problem> {
    let known = token.and_then(|token| caller_with(token, Credential::Session));
    let Some((caller, proof)) = known else {
        if let Some(Peer(peer)) = peer {
            app.pace.failure(peer)?;
        }
        return Ok(None);
    };
    // The page shows everything, and is for people.
    Right::Survey.demand(&caller)?;
    let session = begin_session(app, (caller, proof)).await?;
    let jar = CookieJar::new().add(app.session.holding(session));
    let mut response = (jar, Redirect::to(of_this_server(to))).into_response();
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(Some(response))
}

/// Ends the session.
pub(super) async fn end(
    State(app): State<App>,
    Visitor(caller): Visitor,
    headers: axum::http::HeaderMap,
) -> Response {
    if let Some(secret) = app.session.secret_in(&headers)
        && let Err(problem) = end_session(&app, &secret, caller.actor.clone()).await
    {
        return refused(&problem, Some(&caller));
    }
    (CookieJar::new().add(app.session.void()), Redirect::to("/")).into_response()
}

#[cfg(test)]
mod tests {
    use super::{of_this_server, wanted};

    #[test]
    fn nobody_is_sent_to_another_host() {
        for path in ["/review/int_1", "/?tab=mine&find=a+b", "/"] {
            assert_eq!(of_this_server(path), path);
        }
        for path in [
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "javascript:x",
            "",
            "/\t/evil",
            "/\n/evil",
            "/\u{2215}/evil",
        ] {
            assert_eq!(of_this_server(path), "/", "{path:?}");
        }
    }

    #[test]
    fn the_secret_does_not_go_on_with_what_was_wanted() {
        let wanted = |uri: &str| wanted(&uri.parse().unwrap());
        assert_eq!(wanted("/review/x?launch=irq_1"), "/review/x");
        assert_eq!(wanted("/?launch=irq_1&tab=mine&launch=2"), "/?tab=mine");
        assert_eq!(wanted("/agents?type=A%20B"), "/agents?type=A+B");
    }
}
