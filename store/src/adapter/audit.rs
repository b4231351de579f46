//! The ports of the outbox and the audit.

use async_trait::async_trait;
use interrupt_router::RunId;
use interrupts::store::{
    Audit, AuditRow, Consumer, Outbox, OutboxRow, Page, PageBack, StoreError, Verification,
    VerifyError,
};

use super::{Adapter, count_rows_when_due};
use crate::operation::Consume;
use crate::relational::{
    Cell, Relational, Rows as _, audited, columns, count, notification, position, verify,
};
use crate::tables::damaged;

/// Up to how many rows may be read on the thread that asks.
const FEW: u32 = 256;

#[async_trait]
impl<B: Relational> Outbox for Adapter<B> {
    async fn outbox(&self, page: Page) -> Result<Vec<OutboxRow>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(outbox),
            " FROM outbox WHERE position > ? \
             ORDER BY position LIMIT ?"
        );
        let values = [Cell::position(page.after)?, Cell::limit(page.limit)];
        if page.limit > FEW {
            return self.backend.rows(sql, values, notification).await;
        }
        // A follower reads the newest rows, which were just written.
        let rows = self.backend.few(sql, values, notification).await?;
        if rows.len() == page.limit as usize {
            // One that is far behind does not keep the thread for itself.
            tokio::task::yield_now().await;
        }
        Ok(rows)
    }

    async fn outbox_of(&self, run: RunId, page: Page) -> Result<Vec<OutboxRow>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(outbox),
            " FROM outbox INDEXED BY outbox_of_run \
             WHERE run = ? AND position > ? ORDER BY position LIMIT ?"
        );
        let values = [
            Cell::made(&run),
            Cell::position(page.after)?,
            Cell::limit(page.limit),
        ];
        self.backend.rows(sql, values, notification).await
    }

    async fn last_outbox_of(
        &self,
        run: RunId,
        page: PageBack,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(outbox),
            " FROM outbox INDEXED BY outbox_of_run \
             WHERE run = ?1 AND (CAST(?2 AS BIGINT) IS NULL OR position < ?2) ORDER BY position DESC LIMIT ?3"
        );
        let before = Cell::number(page.before.map(position).transpose()?);
        self.backend
            .rows(
                sql,
                [Cell::made(&run), before, Cell::limit(page.limit)],
                notification,
            )
            .await
    }

    async fn consumed(&self, consumer: &Consumer, through: u64) -> Result<u64, StoreError> {
        let consumer = consumer.clone();
        self.backend.submit(Consume { consumer, through }).await
    }

    async fn cursor(&self, consumer: &Consumer) -> Result<u64, StoreError> {
        let sql = "SELECT position FROM cursors WHERE consumer = ?";
        let stands = self
            .backend
            .row(sql, [Cell::made(consumer)], |row| count(row, 0));
        Ok(stands.await?.unwrap_or(0))
    }
}

#[async_trait]
impl<B: Relational> Audit for Adapter<B> {
    async fn audit(&self, page: Page) -> Result<Vec<AuditRow>, StoreError> {
        let sql = "SELECT position, previous, digest, entry FROM audit WHERE position > ? \
             ORDER BY position LIMIT ?";
        let rows = self.backend.rows(
            sql,
            [Cell::position(page.after)?, Cell::limit(page.limit)],
            audited,
        );
        let rows = rows.await?;
        match rows
            .windows(2)
            .find(|pair| !pair[1].follows(&pair[0].head()))
        {
            Some(pair) => Err(damaged(&format!(
                "a row of the audit is missing after row {}",
                pair[0].position
            ))),
            None => Ok(rows),
        }
    }

    async fn count_rows(&self) -> Result<(), StoreError> {
        count_rows_when_due(self).await
    }

    async fn verify_audit(&self) -> Result<Verification, VerifyError> {
        self.backend
            .ask(|database| Ok(verify::whole(database)))
            .await?
    }
}
