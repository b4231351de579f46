//! Tokens: made here, stored only as digests, and shown without them.

use interrupts::life::{Actor, Role};
use interrupts::store::{NewToken, StoreError, TokenRow, TokenScope, Tokens, short_name};
use interrupts::{ActorName, Digest};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::caller::{Caller, role_name};
use crate::command::Command;
use crate::control::Control;
use crate::refusal::{Code, NotDone, Refusal};
use crate::right::Right;

/// How a caller is known. A secret of one kind is not taken for one of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A token, in the header `Authorization`.
    Bearer,
    /// The secret of a page's session, in a cookie.
    Session,
    /// The secret that opens one stream or socket, in the address.
    Ticket,
}

impl Credential {
    /// What its secrets begin with, so that a leaked one is recognised.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Bearer => "irq_",
            Self::Session => "irqsession_",
            Self::Ticket => "irqticket_",
        }
    }

    /// The digest by which a secret of this kind is found; `None` for what cannot be one.
    pub fn digest_of(self, secret: &str) -> Option<Digest> {
        let digits = secret.strip_prefix(self.prefix())?;
        let fits = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        fits.then(|| Digest::of(secret.as_bytes()))
    }

    /// 256 random bits, as text.
    fn new_secret(self) -> Result<String, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("{}{digits}", self.prefix()))
    }
}

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

/// Makes a token and stores its digest.
///
/// # Errors
///
/// The role does not go with what the token is bound to, the machine gives no random bytes, or the store failed. No
/// token was made then.
///
/// # Cancel safety
///
/// Dropped, a token may be stored whose secret no one knows: no one can use it.
pub async fn issue_token(
    tokens: &(impl Tokens + ?Sized),
    order: TokenOrder,
) -> Result<Issued, NotDone> {
    issue(tokens, Credential::Bearer, order, None).await
}

/// Makes a session or a ticket, which is valid no longer than the token that it was bought with.
///
/// # Errors
///
/// As [`issue_token`].
///
/// # Cancel safety
///
/// As [`issue_token`].
pub async fn issue_bought(
    tokens: &(impl Tokens + ?Sized),
    credential: Credential,
    order: TokenOrder,
    with: Digest,
) -> Result<Issued, NotDone> {
    issue(tokens, credential, order, Some(with)).await
}

async fn issue(
    tokens: &(impl Tokens + ?Sized),
    credential: Credential,
    order: TokenOrder,
    of: Option<Digest>,
) -> Result<Issued, NotDone> {
    refuse_misbound(order.role, order.scope.as_ref())?;
    let secret = credential.new_secret();
    let secret = secret.map_err(|error| NotDone::Failed(error.into()))?;
    let new = NewToken {
        digest: Digest::of(secret.as_bytes()),
        name: order.name,
        role: order.role,
        lifetime: order.lifetime,
        once: order.once,
        of,
        scope: order.scope,
        by: order.by,
    };
    let row = tokens.put_token(new).await.map_err(NotDone::Store)?;
    Ok(Issued { secret, row })
}

/// Refuses a token that would reach more than its role may, or less.
fn refuse_misbound(role: Role, scope: Option<&TokenScope>) -> Result<(), Refusal> {
    let to_a_run =
        "name `run_id`, `agent_id` or both with the role `agent`, and neither with another role";
    let (text, hint) = match (role, scope) {
        (Role::System, _) => (
            "$.role: no token may have the role `system`",
            "choose another role",
        ),
        (Role::Requester, Some(TokenScope::Run { .. }))
        | (Role::Worker, Some(TokenScope::Workflow { .. })) => return Ok(()),
        (Role::Requester, _) => (
            "$.run_id: the token of an agent is bound to a run, or to an agent of one",
            to_a_run,
        ),
        (Role::Worker, _) => (
            "$.workflow: the token of a worker is bound to a workflow",
            "name `workflow` with the role `worker`",
        ),
        (_, Some(_)) => (
            "$.run_id: only the token of an agent is bound to a run, and only that of a worker to a workflow",
            to_a_run,
        ),
        (_, None) => return Ok(()),
    };
    Err(Refusal::new(Code::Shape, text, hint))
}

/// A token as it stands. Neither its secret nor its digest can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenView {
    /// Names it: the beginning of its secret's digest.
    pub id: String,
    /// Who it speaks for.
    pub name: String,
    /// The role that it gives its holder.
    pub role: String,
    /// The run that it is bound to: an agent's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The agent of that run that it is bound to, with those that it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The workflow that it is bound to: a worker's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Whether it becomes void after its first use.
    pub once: bool,
    /// When it was used, if it can be used once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// Whether it is accepted now.
    pub holds: bool,
    /// The token that was exchanged for it: that of a session. It ends with that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bought_with: Option<String>,
}

impl TokenView {
    /// All tokens, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// The store failed.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn all(
        tokens: &(impl Tokens + ?Sized),
        now: Timestamp,
    ) -> Result<Vec<Self>, StoreError> {
        let rows = tokens.tokens().await?;
        let view = |row: &TokenRow| Self::of(row, row.holds_among(&rows, now));
        Ok(rows.iter().map(view).collect())
    }

    fn of(row: &TokenRow, holds: bool) -> Self {
        let scope = row.scope.as_ref();
        Self {
            id: row.short_name(),
            name: row.name.to_string(),
            role: role_name(row.role).to_owned(),
            run_id: scope.and_then(|it| Some(it.run()?.to_string())),
            agent_id: scope.and_then(TokenScope::agent),
            workflow: scope.and_then(|it| Some(it.workflow()?.to_string())),
            created_at: row.created_at,
            expires_at: row.expires_at,
            once: row.once,
            used_at: row.used_at,
            revoked_at: row.revoked_at,
            holds,
            bought_with: row.of.map(short_name),
        }
    }
}

/// Makes a token, which is valid until it is revoked or its life has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakeToken {
    /// Who it speaks for.
    pub name: ActorName,
    /// What it permits.
    pub role: Role,
    /// How long it is valid; for ever if absent.
    pub lifetime: Option<SignedDuration>,
    /// What it is bound to.
    pub scope: Option<TokenScope>,
}

/// A token that was made, and its secret.
#[derive(Serialize, Deserialize)]
pub struct MadeToken {
    /// The secret. It is stored nowhere, and cannot be shown again.
    pub secret: String,
    /// The token.
    pub token: TokenView,
}

impl Command for MakeToken {
    type Done = MadeToken;

    const NAME: &'static str = "make_token";

    const RIGHT: Right = Right::Operate;

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<MadeToken, NotDone> {
        let order = TokenOrder {
            name: self.name,
            role: self.role,
            lifetime: self.lifetime,
            once: false,
            scope: self.scope,
            by: Some(by.actor.clone()),
        };
        let issued = issue_token(at.store, order).await?;
        Ok(MadeToken {
            token: TokenView::of(&issued.row, true),
            secret: issued.secret,
        })
    }
}

/// Makes a token void, and all that was bought with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// Its whole id.
    pub id: String,
}

impl Command for RevokeToken {
    type Done = TokenView;

    const NAME: &'static str = "revoke_token";

    const RIGHT: Right = Right::Operate;

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<TokenView, NotDone> {
        let rows = at.store.tokens().await.map_err(NotDone::Store)?;
        let mut named = rows.iter().filter(|row| row.short_name() == self.id);
        let (Some(row), None) = (named.next(), named.next()) else {
            let text = format!("there is no token `{}`", self.id);
            let hint = "`irq token list --all` lists them";
            return Err(Refusal::new(Code::NotFound, text, hint).into());
        };
        let revoked = at.store.revoke_token(row.digest, Some(by.actor.clone()));
        let revoked = revoked.await.map_err(NotDone::Store)?;
        Ok(TokenView::of(revoked.as_ref().unwrap_or(row), false))
    }
}

#[cfg(test)]
mod tests {
    use super::Credential;

    #[test]
    fn two_secrets_differ_and_none_is_taken_for_one_of_another_kind() {
        let kinds = [Credential::Bearer, Credential::Session, Credential::Ticket];
        for kind in kinds {
            let (one, other) = (kind.new_secret().unwrap(), kind.new_secret().unwrap());
            assert_ne!(one, other);
            for looked_up in kinds {
                assert_eq!(looked_up.digest_of(&one).is_some(), kind == looked_up);
            }
        }
    }

    #[test]
    fn what_has_no_form_of_a_secret_is_not_looked_up() {
        for text in ["", "irq_", "irq_xyz", &"a".repeat(68)] {
            assert!(Credential::Bearer.digest_of(text).is_none(), "{text}");
        }
    }
}
