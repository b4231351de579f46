//! The ports of the outbox and the audit.

use async_trait::async_trait;
use interrupts::store::{
    Audit, AuditRow, Consumer, Outbox, OutboxRow, Page, PageBack, StoreError, Verification,
    VerifyError,
};
use routing_core::RunId;

use super::{Adapter, count_rows_when_due};
use crate::operation::Consume;
use crate::relational::{Reads, Relational};

#[async_trait]
impl<B: Relational> Outbox for Adapter<B> {
    async fn outbox(&self, page: Page) -> Result<Vec<OutboxRow>, StoreError> {
        self.backend.outbox(page).await
    }

    async fn outbox_of(&self, run: RunId, page: Page) -> Result<Vec<OutboxRow>, StoreError> {
        self.backend.outbox_of(run, page).await
    }

    async fn last_outbox_of(
        &self,
        run: RunId,
        page: PageBack,
    ) -> Result<Vec<OutboxRow>, StoreError> {
        self.backend.last_outbox_of(run, page).await
    }

    async fn consumed(&self, consumer: &Consumer, through: u64) -> Result<u64, StoreError> {
        let consumer = consumer.clone();
        self.backend.submit(Consume { consumer, through }).await
    }

    async fn cursor(&self, consumer: &Consumer) -> Result<u64, StoreError> {
        self.backend.cursor(consumer).await
    }
}

#[async_trait]
impl<B: Relational> Audit for Adapter<B> {
    async fn audit(&self, page: Page) -> Result<Vec<AuditRow>, StoreError> {
        self.backend.audit(page).await
    }

    async fn count_rows(&self) -> Result<(), StoreError> {
        count_rows_when_due(self).await
    }

    async fn verify_audit(&self) -> Result<Verification, VerifyError> {
        self.backend.verify().await
    }
}
