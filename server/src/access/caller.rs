//! Who sends a request.

use std::sync::Arc;

use interrupts::Digest;
use interrupts::life::{Actor, Role};
use interrupts::store::{TokenRow, TokenScope, Tokens};

use super::staying::Stay;
use crate::app::App;
use crate::problem::{Kind, Problem};

/// How a caller showed who he is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// By a token in a header, which no browser adds by itself.
    Bearer,
    /// By the cookie of a session, which a browser adds to whatever is sent here.
    Session,
    /// By a ticket that was good for this one request.
    Ticket,
}

/// Who sends a request. Taken from the credential alone, never from what the request says.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// His name and role.
    pub(crate) actor: Actor,
    /// How he showed it.
    pub(crate) credential: Credential,
    /// What he is bound to: a token that is bound sees and reaches nothing else.
    pub(crate) scope: Option<TokenScope>,
    /// The digest of what lets him stay: what he showed, or what his ticket was bought with.
    lasting: Digest,
}

impl Caller {
    /// Whoever holds a token.
    pub(crate) fn of(token: TokenRow, credential: Credential) -> Option<Self> {
        // Nobody outside is the machinery itself.
        let TokenRow {
            name,
            role,
            digest,
            of,
            scope,
            ..
        } = token;
        // A ticket is spent by now; what it was bought with is not.
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

    /// Begins his stay: it is over when what he showed holds no more, or what his ticket was bought with.
    pub(crate) fn stays(&self, app: &App) -> Arc<Stay> {
        app.staying.begin(self.lasting)
    }

    /// Whether what lets him stay holds now, for what he asks for while he stays. Where the store cannot say, it does:
    /// what he asks for is refused then by itself.
    pub(crate) async fn may_still(&self, app: &App) -> bool {
        let found = Tokens::use_token(app.store(), self.lasting).await;
        found.map_or(true, |row| row.is_some())
    }

    /// The digest of what lets him stay.
    pub(crate) const fn lasting(&self) -> Digest {
        self.lasting
    }

    /// The problem that a request without a credential is.
    pub(crate) fn nobody() -> Problem {
        Problem::new(
            Kind::Unauthenticated,
            "the request carries no token that holds",
            "send `Authorization: Bearer TOKEN`; `irq token create` makes one",
        )
    }
}

/// The name of a role in what people write.
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
    /// The name of his role.
    pub(crate) const fn role_name(&self) -> &'static str {
        role_name(self.actor.role)
    }
}
