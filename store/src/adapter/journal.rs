//! The port of journals.

use async_trait::async_trait;
use interrupt_router::RunId;
use interrupts::EffectId;
use interrupts::store::{Begun, Intent, Journal, JournalEntry, JournalError, Page, StoreError};

use super::Adapter;
use crate::operation::{Begin, Finish};
use crate::relational::{Cell, Relational, Rows as _, body, columns, sealed};

#[async_trait]
impl<B: Relational> Journal for Adapter<B> {
    async fn begin(&self, epoch: u64, intent: Intent) -> Result<Begun, JournalError> {
        self.backend.submit(Begin { epoch, intent }).await
    }

    async fn finish(
        &self,
        epoch: u64,
        effect: EffectId,
        content: String,
    ) -> Result<JournalEntry, JournalError> {
        let finish = Finish {
            epoch,
            effect,
            content,
        };
        self.backend.submit(finish).await
    }

    async fn effect(&self, effect: EffectId) -> Result<Option<JournalEntry>, StoreError> {
        self.backend.record::<JournalEntry>(&effect).await
    }

    async fn journal(&self, run: RunId, page: Page) -> Result<Vec<JournalEntry>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(journal),
            " FROM journal WHERE run = ? AND position > ? ORDER BY position LIMIT ?"
        );
        self.entries(sql, run, page).await
    }

    async fn unknown_effects(
        &self,
        run: RunId,
        page: Page,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(journal),
            " FROM journal WHERE run = ? AND position > ? AND done = 0 ORDER BY position LIMIT ?"
        );
        self.entries(sql, run, page).await
    }
}

impl<B: Relational> Adapter<B> {
    /// The entries of a run that a statement finds after a position.
    async fn entries(
        &self,
        sql: &'static str,
        run: RunId,
        page: Page,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        let values = [
            Cell::made(&run),
            Cell::position(page.after)?,
            Cell::limit(page.limit),
        ];
        self.backend
            .rows(sql, values, |row| body(row, &sealed::JOURNAL))
            .await
    }
}
