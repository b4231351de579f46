//! Who may come in: tokens, kept as digests.

use async_trait::async_trait;
use interrupt_router::{NodeId, RunId};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use crate::digest::Digest;
use crate::life::{Actor, Role};
use crate::names::{ActorName, WorkflowName};

/// How many digits of its digest name a token.
const SHORT_NAME: usize = 16;

/// A short name for a token: the beginning of its secret's digest.
pub fn short_name(digest: Digest) -> String {
    let mut name = digest.to_string();
    name.truncate(SHORT_NAME);
    name
}

/// What a token is bound to: its holder sees this and acts on this, and on nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TokenScope {
    /// That of an agent: a run, or an agent of it.
    Run {
        /// The run.
        run: RunId,
        /// The agent, with those that it started; all agents of the run if it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<NodeId>,
    },
    /// That of a worker: the runs of its workflow.
    Workflow {
        /// The workflow.
        workflow: WorkflowName,
    },
}

impl TokenScope {
    /// Whether an agent of a run is within it. A worker acts on runs only through the worker protocol.
    pub fn covers(&self, run: RunId, node: &NodeId) -> bool {
        match self {
            Self::Run {
                run: own,
                node: bound,
            } => {
                let within = bound.as_ref().is_none_or(|own| node.is_within(own));
                run == *own && within
            }
            Self::Workflow { .. } => false,
        }
    }

    /// The run that it is bound to, if it is bound to one.
    pub const fn run(&self) -> Option<RunId> {
        match self {
            Self::Run { run, .. } => Some(*run),
            Self::Workflow { .. } => None,
        }
    }

    /// The address of the agent that it is bound to, if it is bound to one.
    pub fn agent(&self) -> Option<String> {
        match self {
            Self::Run {
                run,
                node: Some(node),
            } => Some(format!("{run}/{node}")),
            Self::Run { node: None, .. } | Self::Workflow { .. } => None,
        }
    }

    /// The workflow that it is bound to, if it is bound to one.
    pub const fn workflow(&self) -> Option<&WorkflowName> {
        match self {
            Self::Run { .. } => None,
            Self::Workflow { workflow } => Some(workflow),
        }
    }
}

/// A token to be kept. Its secret never reaches the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    /// The digest of its secret, by which it is found.
    pub digest: Digest,
    /// Who it speaks for.
    pub name: ActorName,
    /// What it lets its holder do.
    pub role: Role,
    /// How long it is valid, from now by the store's clock; for ever if it is absent.
    pub lifetime: Option<SignedDuration>,
    /// Whether it is void after its first use.
    pub once: bool,
    /// The token that it was bought with. It is valid no longer than that one is.
    pub of: Option<Digest>,
    /// What it is bound to: that of an agent.
    pub scope: Option<TokenScope>,
    /// Who makes it, for the audit; a token that no actor makes, such as the ticket for one stream, is not audited.
    pub by: Option<Actor>,
}

/// A token in its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRow {
    /// The digest of its secret.
    pub digest: Digest,
    /// Who it speaks for.
    pub name: ActorName,
    /// What it lets its holder do.
    pub role: Role,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Whether it is void after its first use.
    pub once: bool,
    /// When it was used first, if it can be used once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_at: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// The token that it was bought with: that of a session. It is valid no longer than that one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Digest>,
    /// What it is bound to: that of an agent. Those of agents that earlier versions made have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<TokenScope>,
}

impl TokenRow {
    /// Whether it is valid at a time.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none()
            && self.expires_at.is_none_or(|end| end > now)
            && !(self.once && self.used_at.is_some())
    }

    /// Whether what was bought with it is still valid at a time. That purchase uses up a single-use token, which then
    /// ends what it bought only by being revoked.
    pub fn vouches_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && (self.once || self.expires_at.is_none_or(|end| end > now))
    }

    /// Whether it is valid at a time, given all tokens: by itself, and by what it was bought with.
    pub fn holds_among(&self, all: &[Self], now: Timestamp) -> bool {
        let above = self.of.map(|of| all.iter().find(|row| row.digest == of));
        let vouched = above.is_none_or(|above| above.is_some_and(|above| above.vouches_at(now)));
        self.holds_at(now) && vouched
    }

    /// A short name for it: the beginning of its secret's digest.
    pub fn short_name(&self) -> String {
        short_name(self.digest)
    }
}

/// Keeps tokens.
#[async_trait]
pub trait Tokens: Send + Sync {
    /// Keeps a token. If its digest is kept already, that token stays as it is, and is returned.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn put_token(&self, token: NewToken) -> Result<TokenRow, StoreError>;

    /// The token of this digest, if it is valid by the store's clock, and so is the one that it was bought with. A
    /// single-use token is void afterwards: if several callers race for it, one gets it.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, a token that can be used once may be void.
    async fn use_token(&self, digest: Digest) -> Result<Option<TokenRow>, StoreError>;

    /// Makes a token void, and with it all that was bought with it. Returns it; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn revoke_token(
        &self,
        digest: Digest,
        by: Option<Actor>,
    ) -> Result<Option<TokenRow>, StoreError>;

    /// All tokens, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn tokens(&self) -> Result<Vec<TokenRow>, StoreError>;
}
