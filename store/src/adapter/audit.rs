//! The ports of the outbox and the audit.

use async_trait::async_trait;
use interrupts::store::{
    Audit, AuditHead, AuditRow, Consumer, Outbox, OutboxRow, Page, PageBack, StoreError,
    VerifyError,
};
use routing_core::RunId;

use super::Adapter;
use crate::operation::Consume;
use crate::query::Backend;

/// How many rows a verification reads at a time.
const ROWS_AT_A_TIME: u32 = 1_000;

#[async_trait]
impl<B: Backend> Outbox for Adapter<B> {
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
        self.backend.execute(Consume { consumer, through }).await
    }

    async fn cursor(&self, consumer: &Consumer) -> Result<u64, StoreError> {
        self.backend.cursor(consumer).await
    }
}

#[async_trait]
impl<B: Backend> Audit for Adapter<B> {
    async fn audit(&self, page: Page) -> Result<Vec<AuditRow>, StoreError> {
        self.backend.audit(page).await
    }

    async fn verify_audit(&self) -> Result<AuditHead, VerifyError> {
        loop {
            let anchor = self.backend.audit_anchor().await?;
            let verified = verify(&self.backend, anchor).await;
            // Where a purge cut off what was being read, it is read again.
            if verified.is_ok() || self.backend.audit_anchor().await? == anchor {
                return verified;
            }
        }
    }
}

async fn verify<B: Backend>(backend: &B, anchor: AuditHead) -> Result<AuditHead, VerifyError> {
    // The head comes first: rows that are written meanwhile lie beyond it.
    let expected = backend.audit_head().await?;
    let mut found = anchor;
    while found.position < expected.position {
        let page = Page {
            after: found.position,
            limit: ROWS_AT_A_TIME,
        };
        let rows = backend.audit(page).await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            if found.position == expected.position {
                break;
            }
            if !row.follows(&found) {
                return Err(VerifyError::Broken {
                    position: found.position + 1,
                });
            }
            found = row.head();
        }
    }
    if found == expected {
        Ok(found)
    } else {
        Err(VerifyError::CutOff {
            found: found.position,
            expected: expected.position,
        })
    }
}
