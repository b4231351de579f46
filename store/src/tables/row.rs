//! Rows that exist in the store alone.

use interrupt_router::{EventId, InterruptId, RunId};
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::Interrupt;
use interrupts::rules::StandingRule;
use interrupts::store::{
    AuditHead, AuditRow, AuditSubject, CatalogueRow, JournalPosition, JournalSoFar, NodeRow, Run,
    TokenRow,
};
use interrupts::{Digest, IdempotencyKey};
use serde::{Deserialize, Serialize};

/// Where the lists of the store end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Heads {
    pub(crate) audit: AuditHead,
    pub(crate) outbox: u64,
    pub(crate) interrupts: u64,
    pub(crate) runs: u64,
    pub(crate) journal: u64,
    /// How many intents and results the journal has.
    #[serde(default)]
    pub(crate) journal_count: u64,
    #[serde(default)]
    pub(crate) nodes: u64,
    #[serde(default)]
    pub(crate) messages: u64,
    #[serde(default)]
    pub(crate) tokens: u64,
    #[serde(default)]
    pub(crate) rules: u64,
    #[serde(default)]
    pub(crate) catalogues: u64,
    /// Where the audit was cut off.
    #[serde(default = "uncut")]
    pub(crate) audit_anchor: AuditHead,
    /// What a file has, to be compared with; older versions of the program did not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<FileSummary>,
}

/// What a file has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileSummary {
    /// How many rows each table has.
    pub(crate) rows: Vec<u64>,
    /// How many of them have no seal at most: an older version wrote them.
    #[serde(default)]
    pub(crate) unsealed: u64,
    /// How far rows of the audit vouch for the journal.
    pub(crate) bound: JournalPosition,
    /// What has come to the journal since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unbound: Option<Unbound>,
}

/// The end of the journal, which no row of the audit vouches for yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unbound {
    pub(crate) through: JournalPosition,
    pub(crate) so_far: JournalSoFar,
}

const fn uncut() -> AuditHead {
    AuditHead::EMPTY
}

impl Default for Heads {
    fn default() -> Self {
        Self {
            audit: AuditHead::EMPTY,
            outbox: 0,
            interrupts: 0,
            runs: 0,
            journal: 0,
            journal_count: 0,
            nodes: 0,
            messages: 0,
            tokens: 0,
            rules: 0,
            catalogues: 0,
            audit_anchor: AuditHead::EMPTY,
            kept: None,
        }
    }
}

/// A row of the audit, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) row: AuditRow,
    pub(crate) subject: AuditSubject,
}

/// An interrupt and its place among all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InterruptRow {
    pub(crate) position: u64,
    pub(crate) interrupt: Interrupt,
}

/// Whom a key admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyRow {
    pub(crate) interrupt: InterruptId,
    pub(crate) digest: Digest,
    /// The run of the interrupt, where that was admitted by another key and joined by this one.
    pub(crate) joined: Option<RunId>,
}

/// A run and its place among all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunRow {
    pub(crate) position: u64,
    pub(crate) run: Run,
}

/// A node and its place among all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedNode {
    pub(crate) position: u64,
    pub(crate) node: NodeRow,
}

/// A catalogue; what it says is there where it has just been kept, or where the tables are the store.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlacedCatalogue {
    pub(crate) row: CatalogueRow,
    pub(crate) content: Option<SharedCatalogue>,
}

/// A token and its place among all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedToken {
    pub(crate) position: u64,
    pub(crate) token: TokenRow,
}

/// A standing rule and its place among all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedRule {
    pub(crate) position: u64,
    pub(crate) rule: StandingRule,
}

/// The reroutes of one node that are not final, at most one of each kind, and what was said that waits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub(crate) pending: Option<EventId>,
    pub(crate) bound: Option<EventId>,
    /// Of the root: the messages to the nodes of its run that wait, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) waiting: Vec<IdempotencyKey>,
}
