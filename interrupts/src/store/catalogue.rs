//! Catalogues of workflows as a store keeps them, and which one a run continues under.

use async_trait::async_trait;
use interrupt_router::RunId;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::run::{Run, RunError};
use crate::catalogue::{CatalogueChange, SharedCatalogue};
use crate::digest::Digest;
use crate::life::{Actor, Refusal};
use crate::names::WorkflowName;

/// A catalogue that is kept, without its contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueRow {
    /// Its place among all.
    pub position: u64,
    /// The digest of its contents, which names it.
    pub digest: Digest,
    /// The workflow that it is of.
    pub name: WorkflowName,
    /// Counts the versions of the workflow's catalogue, from 1.
    pub version: u64,
}

/// Why a run cannot continue under a catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// More has changed than texts and what was added.
    #[error(transparent)]
    Changed(#[from] CatalogueChange),
    /// The actor may not accept a catalogue.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The run was not changed.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<StoreError> for FollowError {
    fn from(error: StoreError) -> Self {
        Self::Run(error.into())
    }
}

/// Keeps catalogues. What was kept is never changed, and stays as long as the store does.
#[async_trait]
pub trait Catalogues: Send + Sync {
    /// Keeps a catalogue. The same contents are the same version; anything else is a new one.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn keep_catalogue(&self, catalogue: SharedCatalogue) -> Result<CatalogueRow, StoreError>;

    /// Lets a run continue under a catalogue, which is kept: the interrupts that it raises from now on name it. The
    /// audit says what is new in it, if the run was under another one before.
    ///
    /// With `accepted`, the run switches to an incompatible catalogue as well. Open interrupts whose kind or routes changed
    /// are asked again, in the same transaction: claims and votes are dropped, and a decision about what was shown before
    /// is refused. The audit names the actor and the first change.
    ///
    /// # Errors
    ///
    /// [`FollowError::Changed`] if the catalogue is incompatible and not accepted, or if an open interrupt cannot be answered
    /// with it; [`FollowError::Refused`] if the role may not accept it; [`RunError::Fenced`] if a newer owner has the run.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn follow_catalogue(
        &self,
        run: RunId,
        epoch: u64,
        catalogue: SharedCatalogue,
        accepted: Option<Actor>,
    ) -> Result<Run, FollowError>;

    /// A catalogue, by its digest.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn catalogue(&self, digest: Digest) -> Result<Option<SharedCatalogue>, StoreError>;

    /// All catalogues, in the order in which they were kept.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn catalogues(&self) -> Result<Vec<CatalogueRow>, StoreError>;
}
