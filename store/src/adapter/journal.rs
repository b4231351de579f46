//! The port of journals.

use async_trait::async_trait;
use interrupts::EffectId;
use interrupts::store::{Begun, Intent, Journal, JournalEntry, JournalError, Page, StoreError};
use routing_core::RunId;

use super::Adapter;
use crate::operation::{Begin, Finish};
use crate::relational::{JournalPart, Reads, Relational};

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
        self.backend.effect(effect).await
    }

    async fn journal(&self, run: RunId, page: Page) -> Result<Vec<JournalEntry>, StoreError> {
        self.backend.journal(run, JournalPart::Whole, page).await
    }

    async fn unknown_effects(
        &self,
        run: RunId,
        page: Page,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        self.backend
            .journal(run, JournalPart::WithoutResult, page)
            .await
    }
}
