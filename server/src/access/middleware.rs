//! Every request must name a host of ours, and every request for data must come from a known caller.

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use control::{Caller, Credential};
use interrupts::store::Tokens;

use super::caller::{Proof, caller_with, unauthenticated};
use super::host::Foreign;
use super::pace::Peer;
use crate::app::App;
use crate::problem::{Code, Problem, in_time};

/// The secret of a ticket, if the request's address has one.
#[derive(Debug)]
pub(crate) struct Ticket;

impl Ticket {
    /// The parameter of the address that contains one.
    pub(crate) const PARAMETER: &'static str = "ticket";

    fn in_address(uri: &Uri) -> Option<String> {
        let query = uri.query()?;
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(name, _)| name == Self::PARAMETER)
            .map(|(_, secret)| secret.into_owned())
    }
}

/// Refuses what was sent to another host name, or by the page of another site.
pub(crate) async fn refuse_foreign_sites(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    match app.hosts.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(Foreign::Host) => Problem::new(
            Code::Host,
            "the request names a host that is not this server",
            "use `localhost` or the address; other names are given to `irq serve --host`",
        )
        .into_response(),
        Err(Foreign::Malformed) => Problem::new(
            Code::Malformed,
            "the `Host` of the request is no host with a port",
            "send the host of the server's address, such as `127.0.0.1:7070`",
        )
        .into_response(),
        Err(Foreign::Origin) => foreign_origin().into_response(),
    }
}

fn foreign_origin() -> Problem {
    Problem::new(
        Code::Origin,
        "the page of another site sent the request",
        "open this server's own page; programs send no `Origin`",
    )
}

/// Identifies the caller. A request for data without a caller is refused; a page may be requested without one, and then
/// says how to log in.
pub(crate) async fn admit_only_the_known(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    // These responses contain no secrets, and the store that knows callers may be unavailable.
    if matches!(request.uri().path(), "/livez" | "/readyz") {
        return next.run(request).await;
    }
    let shown = match presented(&app, &request) {
        Ok(shown) => shown,
        Err(problem) => return problem.into_response(),
    };
    let peer = request.extensions().get::<Peer>().copied();
    let identified = identify(&app, shown, peer);
    let identified = match request.uri().path() {
        "/metrics" => in_time(identified).await.and_then(|identified| identified),
        _ => identified.await,
    };
    match identified {
        Ok(Some((caller, proof))) => {
            if let Err(problem) = refuse_forged(&request, proof) {
                return problem.into_response();
            }
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(proof);
        }
        Ok(None) if is_open(request.uri().path()) => {}
        Ok(None) => return unauthenticated().into_response(),
        Err(problem) => return problem.into_response(),
    }
    next.run(request).await
}

/// Whether a caller may request it without a credential: pages say how to log in, and specifications contain no secrets.
fn is_open(path: &str) -> bool {
    !(path.starts_with("/v1/") || path == "/metrics")
}

/// A browser adds the session to every request to this server, so a change by session must name the origin of its page.
fn refuse_forged(request: &Request, proof: Proof) -> Result<(), Problem> {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    let upgrades = request.headers().contains_key(header::UPGRADE);
    // That the origin is ours was checked before.
    let says_its_origin = request.headers().contains_key(header::ORIGIN);
    if proof.credential == Credential::Session && (changes || upgrades) && !says_its_origin {
        return Err(foreign_origin());
    }
    Ok(())
}

async fn identify(
    app: &App,
    shown: Option<(String, Credential)>,
    peer: Option<Peer>,
) -> Result<Option<(Caller, Proof)>, Problem> {
    let Some((secret, credential)) = shown else {
        return Ok(None);
    };
    let row = match credential.digest_of(&secret) {
        Some(digest) => Tokens::use_token(app.store(), digest).await?,
        None => None,
    };
    let row = row.filter(|row| {
        // A one-time token is accepted only as a ticket; a launch token buys a session elsewhere. What was bought with
        // a token is not a bearer token, even if an earlier version gave it the form of one.
        match credential {
            Credential::Bearer => !row.once && row.of.is_none(),
            Credential::Session => !row.once,
            Credential::Ticket => row.once,
        }
    });
    if let Some(known) = row.and_then(|row| caller_with(row, credential)) {
        return Ok(Some(known));
    }
    if let Some(Peer(peer)) = peer {
        app.pace.failure(peer)?;
    }
    // The cookie of a session that has ended is not a login attempt.
    Ok(None)
}

/// Whether this path accepts tickets.
pub(crate) fn takes_tickets(path: &str) -> bool {
    matches!(path, "/v1/events" | "/v1/ws")
}

/// The credential of a request: the header goes before the ticket, the ticket before the cookie.
fn presented(app: &App, request: &Request) -> Result<Option<(String, Credential)>, Problem> {
    let mut bearers = request.headers().get_all(header::AUTHORIZATION).iter();
    match (bearers.next(), bearers.next()) {
        (None, _) => {}
        (Some(value), None) => return Ok(bearer(value)),
        // A proxy may have looked at the other one.
        (Some(_), Some(_)) => {
            return Err(Problem::new(
                Code::Malformed,
                "the request has more than one `Authorization` header",
                "send the one of the token that you mean",
            ));
        }
    }
    if takes_tickets(request.uri().path())
        && let Some(secret) = Ticket::in_address(request.uri())
    {
        return Ok(Some((secret, Credential::Ticket)));
    }
    let session = app.session.secret_in(request.headers());
    Ok(session.map(|secret| (secret, Credential::Session)))
}

/// The token in an `Authorization` header, if it is of that kind.
fn bearer(value: &HeaderValue) -> Option<(String, Credential)> {
    let (scheme, secret) = value.to_str().ok()?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| (secret.trim().to_owned(), Credential::Bearer))
}
