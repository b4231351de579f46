//! The gate: no request passes without a host that is ours, and none for data without somebody who sends it.

use axum::extract::{Request, State};
use axum::http::{Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum_extra::extract::CookieJar;
use interrupts::store::Tokens;

use super::caller::{Caller, Credential};
use super::host::Foreign;
use super::pace::Peer;
use super::session::SESSION_COOKIE;
use super::token::{digest_of_presented, digest_of_ticket};
use crate::app::App;
use crate::problem::{Kind, Problem, of_store};

/// The secret of a ticket, where the request's address has one.
#[derive(Debug)]
pub(crate) struct Ticket;

impl Ticket {
    /// The parameter of the address that holds one.
    pub(crate) const PARAMETER: &'static str = "ticket";

    fn in_address(uri: &Uri) -> Option<String> {
        let query = uri.query()?;
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(name, _)| name == Self::PARAMETER)
            .map(|(_, secret)| secret.into_owned())
    }
}

/// Refuses what was sent to another name, or by the page of another site.
pub(crate) async fn refuse_foreign_sites(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    match app.hosts.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(Foreign::Host) => Problem::new(
            Kind::Host,
            "the request names a host that is not this server",
            "use `localhost` or the address; other names are given to `irq serve --host`",
        )
        .into_response(),
        Err(Foreign::Origin) => foreign_origin().into_response(),
    }
}

fn foreign_origin() -> Problem {
    Problem::new(
        Kind::Origin,
        "the page of another site sent the request",
        "open this server's own page; programs send no `Origin`",
    )
}

/// Finds out who sends a request. One for data that nobody sends is refused; a page may be asked for by nobody,
/// and then says how to come in.
pub(crate) async fn admit_only_the_known(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let shown = presented(&request);
    let peer = request.extensions().get::<Peer>().copied();
    match identify(&app, shown, peer).await {
        Ok(Some(caller)) => {
            if let Err(problem) = refuse_forged(&request, &caller) {
                return problem.into_response();
            }
            request.extensions_mut().insert(caller);
        }
        Ok(None) if is_open(request.uri().path()) => {}
        Ok(None) => return Caller::nobody().into_response(),
        Err(problem) => return problem.into_response(),
    }
    next.run(request).await
}

/// Whether nobody in particular may ask for it: pages say how to come in, and specifications tell no secrets.
fn is_open(path: &str) -> bool {
    !(path.starts_with("/v1/") || path == "/metrics")
}

/// A browser adds the session to whatever is sent here, so a change by session must say which page it is from.
fn refuse_forged(request: &Request, caller: &Caller) -> Result<(), Problem> {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    let upgrades = request.headers().contains_key(header::UPGRADE);
    // That an origin is ours was checked before.
    let says_its_origin = request.headers().contains_key(header::ORIGIN);
    if caller.credential == Credential::Session && (changes || upgrades) && !says_its_origin {
        return Err(foreign_origin());
    }
    Ok(())
}

async fn identify(
    app: &App,
    shown: Option<(String, Credential)>,
    peer: Option<Peer>,
) -> Result<Option<Caller>, Problem> {
    let Some((secret, credential)) = shown else {
        return Ok(None);
    };
    let digest = match credential {
        Credential::Ticket => digest_of_ticket(&secret),
        Credential::Bearer | Credential::Session => digest_of_presented(&secret),
    };
    let row = match digest {
        Some(digest) => Tokens::use_token(app.store(), digest)
            .await
            .map_err(|error| of_store(&error))?,
        None => None,
    };
    let caller = row.and_then(|row| {
        let once = row.once;
        // What can be used once lets somebody in as a ticket alone; a launch token buys a session elsewhere.
        (once == (credential == Credential::Ticket)).then_some(row)
    });
    if let Some(caller) = caller.and_then(|row| Caller::of(row, credential)) {
        return Ok(Some(caller));
    }
    if let Some(Peer(peer)) = peer {
        app.pace.failure(peer)?;
    }
    // The cookie of a session that has ended is no attempt to come in.
    Ok(None)
}

/// The credential that a request shows: the header goes before the ticket, the ticket before the cookie.
fn presented(request: &Request) -> Option<(String, Credential)> {
    if let Some(value) = request.headers().get(header::AUTHORIZATION) {
        let (scheme, secret) = value.to_str().ok()?.split_once(' ')?;
        return scheme
            .eq_ignore_ascii_case("bearer")
            .then(|| (secret.trim().to_owned(), Credential::Bearer));
    }
    let feeds = matches!(request.uri().path(), "/v1/events" | "/v1/ws");
    if feeds && let Some(secret) = Ticket::in_address(request.uri()) {
        return Some((secret, Credential::Ticket));
    }
    let jar = CookieJar::from_headers(request.headers());
    let cookie = jar.get(SESSION_COOKIE)?;
    Some((cookie.value().to_owned(), Credential::Session))
}
