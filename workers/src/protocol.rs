//! What the operations of workers work on.

use std::sync::Arc;

use interrupts::WorkflowName;
use interrupts::catalogue::{CatalogueBook, SharedCatalogue};
use interrupts::policy::Policy;
use interrupts::store::Store;

use crate::error::WorkError;

/// The worker protocol for one workflow, over a store.
#[derive(Clone, Copy)]
pub struct Protocol<'a> {
    /// Keeps everything.
    pub store: &'a dyn Store,
    /// What workflows say of themselves.
    pub catalogues: &'a CatalogueBook,
    /// The policy for questions: how long one waits, and which ones are decided without a person.
    pub policy: &'a Arc<Policy>,
    /// The workflow that the worker belongs to.
    pub workflow: &'a WorkflowName,
}

impl Protocol<'_> {
    /// The newest version of the workflow.
    ///
    /// # Errors
    ///
    /// [`WorkError::UnknownWorkflow`] if it was never registered.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn newest(&self) -> Result<(SharedCatalogue, u64), WorkError> {
        let rows = self.store.catalogues().await?;
        let own = rows.into_iter().filter(|row| row.name == *self.workflow);
        let unknown = || WorkError::UnknownWorkflow {
            name: self.workflow.to_string(),
        };
        let row = own.max_by_key(|row| row.version).ok_or_else(unknown)?;
        let found = self.catalogues.named(self.store, row.digest).await?;
        Ok((found.ok_or_else(unknown)?, row.version))
    }
}
