//! Who sends a request.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use control::{Caller, Credential, Reach};
use interrupts::Digest;
use interrupts::life::{Actor, Role};
use interrupts::store::{TokenRow, Tokens};

use super::session_expiry::Stay;
use crate::app::App;
use crate::problem::{Code, Problem};

/// How a caller proved who they are, and for how long that holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proof {
    /// How.
    pub(crate) credential: Credential,
    /// The digest of the token behind streams and sockets: the credential itself, or what the ticket was bought with.
    pub(crate) lasting: Digest,
}

/// The caller with this token: who sends a request is taken only from the credential, never from what the request says.
pub(crate) fn caller_with(token: TokenRow, credential: Credential) -> Option<(Caller, Proof)> {
    let TokenRow {
        name,
        role,
        digest,
        of,
        scope,
        ..
    } = token;
    // A ticket is used up by now; what it was bought with is not.
    let lasting = match credential {
        Credential::Ticket => of.unwrap_or(digest),
        Credential::Bearer | Credential::Session => digest,
    };
    let caller = Caller {
        actor: Actor { name, role },
        reach: Reach(scope),
        is_hook: false,
    };
    let proof = Proof {
        credential,
        lasting,
    };
    // No outside caller has the system's role.
    (role != Role::System).then_some((caller, proof))
}

impl Proof {
    /// Begins a stay: it ends when the credential, or what the ticket was bought with, is no longer valid.
    pub(crate) fn stays(&self, app: &App) -> Arc<Stay> {
        app.staying.begin(self.lasting)
    }

    /// Whether the credential behind the stay is still valid, for requests during the stay. If the store cannot say, it
    /// is: such a request then fails by itself.
    pub(crate) async fn may_still(&self, app: &App) -> bool {
        let found = Tokens::use_token(app.store(), self.lasting).await;
        found.map_or(true, |row| row.is_some())
    }
}

impl FromRequestParts<App> for Proof {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Problem> {
        let proof = parts.extensions.get::<Self>().copied();
        proof.ok_or_else(unauthenticated)
    }
}

/// The problem for a request without a credential.
pub(crate) fn unauthenticated() -> Problem {
    Problem::new(
        Code::Unauthenticated,
        "the request carries no token that holds",
        "send `Authorization: Bearer TOKEN`; `irq token create` makes one",
    )
}
