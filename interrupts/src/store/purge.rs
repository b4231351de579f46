//! Purging what has ended.

use async_trait::async_trait;
use interrupt_router::RunId;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::error::StoreError;

/// What a purge removes, or has removed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Purged {
    /// Runs that had ended, with all that belongs to them.
    pub runs: Vec<RunId>,
    /// How many interrupts they had.
    pub interrupts: u64,
    /// How many reroutes.
    pub reroutes: u64,
    /// How many effects in their journals.
    pub effects: u64,
    /// How many checkpoints.
    pub checkpoints: u64,
    /// How many nodes.
    pub nodes: u64,
    /// How many messages.
    pub messages: u64,
    /// Rows of the outbox that every consumer has dealt with.
    pub notifications: u64,
    /// Rows at the beginning of the audit, of runs that are gone.
    pub audit_rows: u64,
}

/// Removes what ended long enough ago. What is live, and everything that belongs to a run that has not ended, is never
/// touched. The audit is only cut at its beginning, before the first row that is too young or is about a run that is
/// still kept; a cut leaves an anchor, from which the rest is verified, and a row of the audit that says so.
#[async_trait]
pub trait Purge: Send + Sync {
    /// What [`Purge::purge`] would remove now.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn purgeable(&self, age: SignedDuration) -> Result<Purged, StoreError>;

    /// Removes what ended, or was announced, at least this long ago by the store's clock. A run that still has a live
    /// interrupt stays, and so does a run with a fork that has not ended and has saved no checkpoint of its own yet:
    /// the fork continues from there. Notifications stay until every consumer with a cursor has dealt with them; a
    /// consumer that comes later begins after those that are gone.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. Some runs may be removed by then, each wholly.
    ///
    /// # Cancel safety
    ///
    /// If dropped, some runs may be removed, each wholly. Safe to repeat.
    async fn purge(&self, age: SignedDuration) -> Result<Purged, StoreError>;
}
