//! What goes wrong with a store itself, and with changes of what it keeps.

use interrupt_router::InterruptId;

use super::CheckpointId;
use crate::life::Refusal;
use crate::rules::RuleRefusal;

/// Why a store could not do what it was asked. Nothing was accepted, unless the variant says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The disk is full.
    #[error("the disk of the store is full")]
    Full,
    /// The store cannot be written.
    #[error("the store is read-only")]
    ReadOnly,
    /// What is stored is damaged.
    #[error("the store is damaged: {detail}")]
    Corrupt {
        /// Where and how.
        detail: String,
    },
    /// A row is not what was written. What is stored beside it is not affected.
    #[error("{row} is damaged: it is not what was written")]
    DamagedRow {
        /// Which one, in words.
        row: String,
    },
    /// A value is one that no store keeps: the fault is of the request, and nothing of it was accepted.
    #[error("{detail}")]
    InvalidValue {
        /// Which one, and what fits.
        detail: String,
    },
    /// The content of one checkpoint is not what was saved; the rest of the store is not affected.
    #[error("checkpoint {checkpoint} is damaged: it is not what was saved")]
    DamagedCheckpoint {
        /// Which one.
        checkpoint: CheckpointId,
    },
    /// What was opened as a store is not this program's.
    #[error("it is a database, and no store of this program")]
    Foreign,
    /// Another process held the store for too long.
    #[error("another process holds the store")]
    Locked,
    /// The store was written by a newer version of this program.
    #[error(
        "the store has schema {found}, this program knows up to {known}; use the newer program"
    )]
    Newer {
        /// The version of what is stored.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The engine below is older than what is safe.
    #[error("the engine is version {found}, at least {needed} is needed")]
    EngineTooOld {
        /// Its version.
        found: String,
        /// The oldest version that is safe.
        needed: &'static str,
    },
    /// The engine does not promise that what it accepts survives a power cut.
    #[error("the store would not be durable: {setting} is {found}")]
    NotDurable {
        /// The setting.
        setting: &'static str,
        /// Its value.
        found: String,
    },
    /// The file of the store is not the one that was opened any more: it was deleted, replaced or cut off while it was
    /// in use. An operation that was under way may have happened in a file that no process can reach; none is
    /// acknowledged.
    #[error("the store is gone: {detail}")]
    Gone {
        /// What became of it.
        detail: String,
    },
    /// The store was closed. An operation that was under way may have happened.
    #[error("the store is closed")]
    Closed,
    /// The server of the store cannot be reached.
    #[error("the store cannot be reached: {detail}")]
    Unreachable {
        /// What is wrong.
        detail: String,
    },
    /// The store cannot be used now. An operation that was under way may have happened.
    #[error("the store is unavailable: {detail}")]
    Unavailable {
        /// What is wrong.
        detail: String,
    },
}

/// Why an interrupt was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// There is no such interrupt.
    #[error("there is no interrupt {interrupt}")]
    Unknown {
        /// The id.
        interrupt: InterruptId,
    },
    /// Its life does not allow the change.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It is decided and remembered together, and cannot be remembered.
    #[error(transparent)]
    NotRemembered(#[from] RuleRefusal),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
