//! The tables of a store, as operations see them.
//!
//! They hold the rows that the operations of one transaction touch: an operation that needs a row which was not loaded
//! stops with [`Absent`], the row is loaded, and the operation runs again from its beginning. Operations are made to be run
//! again: they only touch the tables.

mod effects;
mod forget;
mod journal;
mod lists;
mod rest;
mod row;
mod table;

use interrupt_router::reroute::RerouteLimits;
use interrupt_router::{EventId, InterruptId, NodeId, RuleId, RunId};
use interrupts::life::Limits;
use interrupts::store::{
    AuditEntry, AuditRow, AuditSubject, Checkpoint, CheckpointId, Consumer, JournalEntry,
    Notification, OutboxRow, RerouteRow, StoreError, StoredMessage, WorkerRow,
};
use interrupts::{Digest, EffectId, IdempotencyKey, OwnerName, WorkflowName};
use jiff::{SignedDuration, Timestamp};

pub(crate) use forget::Forgotten;
pub(crate) use rest::Rest;
pub(crate) use row::{
    FileSummary, Heads, InterruptRow, KeyRow, PlacedCatalogue, PlacedNode, PlacedRule, PlacedToken,
    RunRow, Slot, Unbound, Written,
};
pub(crate) use table::{Absent, Table};

/// Settings for the operations of a store, given when it is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) limits: Limits,
    pub(crate) reroutes: RerouteLimits,
}

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: $table:ty,)*) => {
        /// The rows that the operations of one transaction touch. Only operations read and write them.
        #[derive(Debug)]
        pub struct Tables {
            pub(crate) settings: Rules,
            /// The time of the transaction, by the store's clock.
            pub(crate) now: Timestamp,
            $($(#[$doc])* pub(crate) $name: $table,)*
            /// What the last operation forgets, once it is kept.
            forgetting: Forgotten,
            pub(crate) forgotten: Forgotten,
        }

        impl Tables {
            /// Tables of which nothing is loaded yet.
            pub(crate) fn new(settings: Rules) -> Self {
                Self {
                    settings,
                    now: Timestamp::UNIX_EPOCH,
                    $($name: Table::default(),)*
                    forgetting: Forgotten::default(),
                    forgotten: Forgotten::default(),
                }
            }

            /// Keeps what the last operation wrote.
            pub(crate) fn keep(&mut self) {
                $(self.$name.keep();)*
                self.forget();
            }

            /// Undoes what the last operation wrote.
            pub(crate) fn undo(&mut self) {
                $(self.$name.undo();)*
                self.forgetting = Forgotten::default();
            }
        }
    };
}

tables! {
    heads: Table<(), Heads>,
    interrupts: Table<InterruptId, InterruptRow>,
    /// The runs whose live interrupts are all among these.
    live: Table<RunId, ()>,
    keys: Table<IdempotencyKey, KeyRow>,
    reroutes: Table<EventId, RerouteRow>,
    /// The runs whose pending reroutes are all among these.
    pending: Table<RunId, ()>,
    slots: Table<(RunId, NodeId), Slot>,
    runs: Table<RunId, RunRow>,
    aliases: Table<String, RunId>,
    nodes: Table<(RunId, NodeId), PlacedNode>,
    messages: Table<IdempotencyKey, StoredMessage>,
    journal: Table<EffectId, JournalEntry>,
    /// The runs of whose journals all entries after a position are among these.
    newer: Table<(RunId, i64), ()>,
    /// Which checkpoints exist. Their contents may be large and no operation needs an old one.
    checkpoint_ids: Table<CheckpointId, ()>,
    checkpoints: Table<CheckpointId, Checkpoint>,
    cursors: Table<Consumer, u64>,
    workers: Table<OwnerName, WorkerRow>,
    catalogues: Table<Digest, PlacedCatalogue>,
    /// The last version of each workflow's catalogue: made of the catalogues themselves.
    versions: Table<WorkflowName, u64>,
    tokens: Table<Digest, PlacedToken>,
    rules: Table<RuleId, PlacedRule>,
    /// The matters whose rules that have not ended are all among these.
    active_rules: Table<Digest, ()>,
    outbox: Table<u64, OutboxRow>,
    audit: Table<u64, Written>,
}

impl Tables {
    pub(crate) fn heads(&mut self) -> Result<Heads, Absent> {
        Ok(self.heads.get(&())?.cloned().unwrap_or_default())
    }

    /// The time after a while.
    pub(crate) fn after(&self, while_: SignedDuration) -> Timestamp {
        self.now.checked_add(while_).unwrap_or(Timestamp::MAX)
    }

    /// Writes a row of the audit. What it vouches for and its digest are added when it is written: then it is known what
    /// the rows say.
    pub(crate) fn audit(&mut self, subject: AuditSubject) -> Result<(), Failed> {
        let mut heads = self.heads()?;
        let entry = AuditEntry {
            at: self.now,
            subject,
            bound: None,
            journal: None,
        };
        let json = serde_json::to_string(&entry).map_err(|error| damaged(&error))?;
        heads.audit.position += 1;
        let row = AuditRow {
            position: heads.audit.position,
            previous: Digest::ZERO,
            digest: Digest::ZERO,
            entry: json,
        };
        let subject = entry.subject;
        self.audit.put(row.position, Written { row, subject });
        self.heads.put((), heads);
        Ok(())
    }

    /// Writes a row of the outbox.
    pub(crate) fn tell(&mut self, notification: Notification) -> Result<(), Absent> {
        let mut heads = self.heads()?;
        heads.outbox += 1;
        let row = OutboxRow {
            position: heads.outbox,
            at: self.now,
            notification,
        };
        self.outbox.put(row.position, row);
        self.heads.put((), heads);
        Ok(())
    }
}

/// Why the tables could not take what an operation does to them.
#[derive(Debug)]
pub(crate) enum Failed {
    /// A row is not loaded.
    Absent,
    /// The rows contradict each other.
    Store(StoreError),
}

impl From<Absent> for Failed {
    fn from(_absent: Absent) -> Self {
        Self::Absent
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What is stored is not what this program wrote.
pub(crate) fn damaged(detail: &dyn ToString) -> StoreError {
    StoreError::Corrupt {
        detail: detail.to_string(),
    }
}
