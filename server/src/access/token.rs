//! Tokens: made here, stored only as digests.

use interrupts::life::{Actor, Role};
use interrupts::store::{NewToken, StoreError, TokenRow, TokenScope, Tokens};
use interrupts::{ActorName, Digest};
use jiff::SignedDuration;

/// The prefix of every token, so that a leaked one is recognised.
const TOKEN: &str = "irq_";
/// The prefix of the secret of a session, which is in a cookie: it is not a token.
const SESSION: &str = "irqsession_";
/// The prefix of a ticket, so that it cannot be used as anything else.
const TICKET: &str = "irqticket_";

/// A request for a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenOrder {
    /// Who it speaks for: this name appears in the audit.
    pub name: ActorName,
    /// What it permits.
    pub role: Role,
    /// How long it is valid; for ever if absent.
    pub lifetime: Option<SignedDuration>,
    /// Whether it is void after its first use.
    pub once: bool,
    /// What it is bound to: only an agent's or a worker's token is bound.
    pub scope: Option<TokenScope>,
    /// Who makes it: this appears in the audit.
    pub by: Option<Actor>,
}

/// A token that was made.
#[derive(Clone)]
pub struct Issued {
    /// The secret. It is stored nowhere, and cannot be shown again.
    pub secret: String,
    /// What is kept.
    pub row: TokenRow,
}

impl std::fmt::Debug for Issued {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Issued")
            .field("row", &self.row)
            .finish_non_exhaustive()
    }
}

/// Why no token was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IssueError {
    /// The machine gives no randomness.
    #[error("the machine gives no random bytes: {0}")]
    NoRandomness(getrandom::Error),
    /// The role is reserved for the system.
    #[error("no token may have the role `system`")]
    SystemRole,
    /// The token of an agent would reach every run.
    #[error("the token of an agent is bound to a run, or to an agent of one")]
    Unbound,
    /// The token of a worker would reach every workflow.
    #[error("the token of a worker is bound to a workflow")]
    NoWorkflow,
    /// Only tokens of agents and workers can be bound.
    #[error(
        "only the token of an agent is bound to a run, and only that of a worker to a workflow"
    )]
    Bound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a token and stores its digest.
///
/// # Errors
///
/// [`IssueError`]. No token was made then.
///
/// # Cancel safety
///
/// Dropped, a token may be stored whose secret no one knows: no one can use it.
pub async fn issue_token(
    tokens: &(impl Tokens + ?Sized),
    order: TokenOrder,
) -> Result<Issued, IssueError> {
    issue(tokens, order, TOKEN, None).await
}

/// Makes the token of a session, which is valid no longer than the token that it was bought with.
pub(super) async fn issue_session(
    tokens: &(impl Tokens + ?Sized),
    order: TokenOrder,
    of: Digest,
) -> Result<Issued, IssueError> {
    issue(tokens, order, SESSION, Some(of)).await
}

/// Makes a ticket: a secret that lets its holder open one stream or socket, while the token that it was bought with is valid.
pub(crate) async fn issue_ticket(
    tokens: &(impl Tokens + ?Sized),
    order: TokenOrder,
    of: Digest,
) -> Result<Issued, IssueError> {
    issue(tokens, order, TICKET, Some(of)).await
}

async fn issue(
    tokens: &(impl Tokens + ?Sized),
    order: TokenOrder,
    prefix: &str,
    of: Option<Digest>,
) -> Result<Issued, IssueError> {
    if order.role == Role::System {
        return Err(IssueError::SystemRole);
    }
    match (order.role, &order.scope) {
        (Role::Requester, Some(TokenScope::Run { .. }))
        | (Role::Worker, Some(TokenScope::Workflow { .. })) => {}
        (Role::Requester, _) => return Err(IssueError::Unbound),
        (Role::Worker, _) => return Err(IssueError::NoWorkflow),
        (_, Some(_)) => return Err(IssueError::Bound),
        (_, None) => {}
    }
    let secret = new_secret(prefix)?;
    let row = tokens
        .put_token(NewToken {
            digest: digest_of(&secret),
            name: order.name,
            role: order.role,
            lifetime: order.lifetime,
            once: order.once,
            of,
            scope: order.scope,
            by: order.by,
        })
        .await?;
    Ok(Issued { secret, row })
}

/// 256 random bits, as text.
fn new_secret(prefix: &str) -> Result<String, IssueError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(IssueError::NoRandomness)?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{prefix}{digits}"))
}

/// The digest by which a token is found; `None` for what cannot be one.
pub(crate) fn digest_of_presented(secret: &str) -> Option<Digest> {
    digest_with(TOKEN, secret)
}

/// The digest by which a session is found; `None` for what cannot be one.
pub(super) fn digest_of_session(secret: &str) -> Option<Digest> {
    digest_with(SESSION, secret)
}

/// The digest by which a ticket is found; `None` for what cannot be one.
pub(super) fn digest_of_ticket(secret: &str) -> Option<Digest> {
    digest_with(TICKET, secret)
}

fn digest_with(prefix: &str, secret: &str) -> Option<Digest> {
    let digits = secret.strip_prefix(prefix)?;
    let fits = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| digest_of(secret))
}

fn digest_of(secret: &str) -> Digest {
    Digest::of(secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{
        SESSION, TICKET, TOKEN, digest_of_presented, digest_of_session, digest_of_ticket,
        new_secret,
    };

    #[test]
    fn two_secrets_differ_and_each_is_recognised() {
        let (one, other) = (new_secret(TOKEN).unwrap(), new_secret(TOKEN).unwrap());
        assert_ne!(one, other);
        assert!(digest_of_presented(&one).is_some());
    }

    #[test]
    fn a_token_a_session_and_a_ticket_are_not_each_other() {
        let kinds = [TOKEN, SESSION, TICKET];
        let found = [digest_of_presented, digest_of_session, digest_of_ticket];
        for (secret_of, kind) in kinds.into_iter().enumerate() {
            let secret = new_secret(kind).unwrap();
            for (looked_up, digest_of) in found.iter().enumerate() {
                assert_eq!(digest_of(&secret).is_some(), secret_of == looked_up);
            }
        }
    }

    #[test]
    fn what_has_no_form_of_a_secret_is_not_looked_up() {
        for text in ["", "irq_", "irq_xyz", &"a".repeat(68)] {
            assert!(digest_of_presented(text).is_none(), "{text}");
        }
    }
}
