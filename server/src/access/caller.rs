//! Who sends a request.

use std::sync::Arc;

use interrupts::Digest;
use interrupts::life::{Actor, Role};
use interrupts::store::{TokenRow, TokenScope, Tokens};

use super::session_expiry::Stay;
use crate::app::App;
use crate::problem::{Code, Problem};

/// How a caller proved who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// By a token in a header, which no browser adds by itself.
    Bearer,
    /// By the cookie of a session, which a browser adds to every request to this server.
    Session,
    /// By a ticket that was good for this one request.
    Ticket,
}

/// Who sends a request. Taken only from the credential, never from what the request says.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// His name and role.
    pub(crate) actor: Actor,
    /// How the caller proved it.
    pub(crate) credential: Credential,
    /// What the token is bound to: a bound token sees and reaches nothing else.
    pub(crate) scope: Option<TokenScope>,
    /// The digest of the token behind streams and sockets: the credential itself, or what the ticket was bought with.
    lasting: Digest,
}

impl Caller {
    /// The caller with this token.
    pub(crate) fn of(token: TokenRow, credential: Credential) -> Option<Self> {
        // No outside caller has the system's role.
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
        (role != Role::System).then_some(Self {
            actor: Actor { name, role },
            credential,
            scope,
            lasting,
        })
    }

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

    /// The digest of the token behind streams and sockets.
    pub(crate) const fn lasting(&self) -> Digest {
        self.lasting
    }

    /// The problem for a request without a credential.
    pub(crate) fn nobody() -> Problem {
        Problem::new(
            Code::Unauthenticated,
            "the request carries no token that holds",
            "send `Authorization: Bearer TOKEN`; `irq token create` makes one",
        )
    }
}

/// The name of a role in text for people.
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Observer => "viewer",
        Role::Requester => "agent",
        Role::Worker => "worker",
        Role::Reviewer => "reviewer",
        Role::Supervisor => "supervisor",
        Role::Operator => "admin",
        Role::System => "system",
    }
}

impl Caller {
    /// The name of the caller's role.
    pub(crate) const fn role_name(&self) -> &'static str {
        role_name(self.actor.role)
    }
}
