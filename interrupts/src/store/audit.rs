//! The audit: what happened, each row bound to the one before by its digest.

use async_trait::async_trait;
use interrupt_router::{EventId, InterruptId, NodeId, RuleId, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::binding::{JournalMark, Verification};
use super::checkpoint::CheckpointId;
use super::error::StoreError;
use super::interrupt::Page;
use crate::digest::Digest;
use crate::life::{Actor, Audited, RunState};

/// What a row of the audit is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum AuditSubject {
    /// A step in the life of an interrupt.
    Interrupt {
        /// Which one.
        interrupt: InterruptId,
        /// Its run.
        run: RunId,
        /// What happened.
        #[serde(flatten)]
        audited: Audited,
    },
    /// A reroute changed.
    Reroute {
        /// Its event.
        event: EventId,
        /// Its run.
        run: RunId,
        /// What it became.
        change: String,
    },
    /// A run changed.
    Run {
        /// Which one.
        run: RunId,
        /// What happened.
        event: String,
        /// Its state after.
        state: RunState,
        /// Its epoch after.
        epoch: u64,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A run was created that continues from a checkpoint of another one.
    Fork {
        /// The new run.
        run: RunId,
        /// What it continues from.
        from: CheckpointId,
        /// How many results it took over.
        effects: u64,
    },
    /// A checkpoint was saved.
    Checkpoint {
        /// Its run.
        run: RunId,
        /// Its number in the run.
        number: u64,
        /// The digest of its content.
        content: Digest,
    },
    /// The beginning of the audit was removed.
    Purge {
        /// The last row that was removed.
        through: u64,
        /// Its digest: what the first row that stays follows.
        anchor: Digest,
    },
    /// A message was accepted, or taken back.
    Message {
        /// Its run.
        run: RunId,
        /// The node that shall read it.
        node: NodeId,
        /// Its place among all messages.
        message: u64,
        /// Who said it, or took it back.
        from: Actor,
        /// The digest of its text.
        text: Digest,
        /// Which of both.
        #[serde(default, skip_serializing_if = "MessageEvent::is_sent")]
        event: MessageEvent,
    },
    /// A standing rule was made, was used, or ended.
    Rule {
        /// Which one.
        rule: RuleId,
        /// What happened.
        event: RuleEvent,
        /// The run that it is confined to, or in which it was used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        /// The interrupt that it was made of, or that it answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupt: Option<InterruptId>,
        /// Who did it: the maker of the rule, also when it was used; the actor who revoked it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        actor: Option<Actor>,
        /// In words: what it decides, why it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// A token was made or made void.
    Token {
        /// The beginning of the digest of its secret.
        token: String,
        /// `created` or `revoked`.
        event: String,
        /// Who it speaks for, and what it lets its holder do.
        holder: Actor,
        /// Who did it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        actor: Option<Actor>,
        /// In words: what kind of token, until when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
}

/// What happened to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageEvent {
    /// It was accepted.
    #[default]
    Sent,
    /// It was taken back before it was read.
    Withdrawn,
}

impl MessageEvent {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Withdrawn => "withdrawn",
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "this is how serde asks for it"
    )]
    const fn is_sent(&self) -> bool {
        matches!(self, Self::Sent)
    }
}

/// What happened to a standing rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEvent {
    /// It was made.
    Created,
    /// It answered a question.
    Used,
    /// It ended.
    Expired,
}

impl RuleEvent {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Used => "used",
            Self::Expired => "expired",
        }
    }
}

/// What a row of the audit says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When it happened, by the store's clock.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub subject: AuditSubject,
    /// The digest of what the row of the interrupt, run, checkpoint or rule that this is about says from then on.
    /// Absent if another row of the same transaction has it, and in rows of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Digest>,
    /// What was added to the journal since the last row that has such a mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalMark>,
}

/// The end of the audit: with a copy of it kept elsewhere, one can tell later that nothing before it was changed or cut
/// off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditHead {
    /// The last row; 0 if there is none.
    pub position: u64,
    /// Its digest.
    pub digest: Digest,
}

impl AuditHead {
    /// Of an audit without rows.
    pub const EMPTY: Self = Self {
        position: 0,
        digest: Digest::ZERO,
    };
}

/// A row of the audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// Its place: 1 for the first, without gaps.
    pub position: u64,
    /// The digest of the row before.
    pub previous: Digest,
    /// The digest of this row.
    pub digest: Digest,
    /// What it says, as the JSON that its digest covers.
    pub entry: String,
}

impl AuditRow {
    /// The row that follows a head.
    pub fn following(head: &AuditHead, entry: String) -> Self {
        let position = head.position + 1;
        Self {
            position,
            previous: head.digest,
            digest: digest_of(position, &head.digest, &entry),
            entry,
        }
    }

    /// The head after this row.
    pub const fn head(&self) -> AuditHead {
        AuditHead {
            position: self.position,
            digest: self.digest,
        }
    }

    /// Whether this row follows a head and is what it was when it was written.
    pub fn follows(&self, head: &AuditHead) -> bool {
        self.position == head.position + 1 && self.previous == head.digest && self.is_itself()
    }

    /// Whether it is what it was when it was written, regardless of the rows before it.
    pub fn is_itself(&self) -> bool {
        self.digest == digest_of(self.position, &self.previous, &self.entry)
    }

    /// What it says.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] if it is no entry.
    pub fn read(&self) -> Result<AuditEntry, StoreError> {
        serde_json::from_str(&self.entry).map_err(|error| StoreError::Corrupt {
            detail: format!("audit row {}: {error}", self.position),
        })
    }
}

fn digest_of(position: u64, previous: &Digest, entry: &str) -> Digest {
    Digest::of_parts([
        position.to_be_bytes().as_slice(),
        previous.bytes(),
        entry.as_bytes(),
    ])
}

/// Why the audit cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A row is not what it was, or a row before it is missing.
    #[error("audit row {position} does not follow from the one before")]
    Broken {
        /// The first such row.
        position: u64,
    },
    /// The audit ends before its head, or not with its digest.
    #[error("the audit ends at row {found}, its head is row {expected}")]
    CutOff {
        /// Where it ends.
        found: u64,
        /// Where it should end.
        expected: u64,
    },
    /// The audit is whole, but rows of the store are not what it vouches for.
    #[error("what is kept is not what was written, in {count} places: {}", .first.join("; "))]
    Unlike {
        /// How many.
        count: u64,
        /// The first of them, each in words.
        first: Vec<String>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps the audit.
#[async_trait]
pub trait Audit: Send + Sync {
    /// Rows after a position, in their order.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn audit(&self, page: Page) -> Result<Vec<AuditRow>, StoreError>;

    /// Counts what is kept, and compares it with how much was written, unless that was done just now. The store does it by
    /// itself before a run gets an owner.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] if rows are missing.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn count_rows(&self) -> Result<(), StoreError>;

    /// Reads the whole audit and checks every digest, from where a purge has cut it off, and compares with it every
    /// row that it vouches for.
    ///
    /// # Errors
    ///
    /// [`VerifyError`] names the first row that is wrong.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn verify_audit(&self) -> Result<Verification, VerifyError>;
}
