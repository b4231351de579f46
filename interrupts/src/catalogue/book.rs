//! Which catalogue applies to a run or an interrupt.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use serde_json::Value;

use super::SharedCatalogue;
use crate::digest::Digest;
use crate::life::Interrupt;
use crate::store::{Run, Store, StoreError};

/// How many catalogues of a store are cached.
const MOST_KEPT: usize = 64;

/// The catalogues of the workflows that a program has, and those of its store that it has read.
#[derive(Debug, Default)]
pub struct CatalogueBook {
    built_in: Vec<SharedCatalogue>,
    read: RwLock<HashMap<Digest, SharedCatalogue>>,
}

impl CatalogueBook {
    /// The book of a program with these workflows. Runs that do not name their workflow belong to the first one.
    pub fn new(built_in: impl IntoIterator<Item = SharedCatalogue>) -> Self {
        Self {
            built_in: built_in.into_iter().collect(),
            read: RwLock::default(),
        }
    }

    /// The catalogues of the program's own workflows.
    pub fn built_in(&self) -> &[SharedCatalogue] {
        &self.built_in
    }

    /// The catalogue of a digest, if it is cached.
    pub fn at_hand(&self, digest: Digest) -> Option<SharedCatalogue> {
        let own = self.built_in.iter().find(|it| it.digest() == digest);
        // Each write inserts a whole value, so a panic elsewhere leaves the map whole.
        let read = || self.read.read().unwrap_or_else(PoisonError::into_inner);
        own.cloned().or_else(|| read().get(&digest).cloned())
    }

    /// Caches a catalogue.
    pub fn keep(&self, catalogue: &SharedCatalogue) {
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        if read.len() >= MOST_KEPT {
            read.clear();
        }
        read.insert(catalogue.digest(), SharedCatalogue::clone(catalogue));
    }

    /// The catalogue of a run that names none, as older versions wrote it: the program's own catalogue of the workflow
    /// that the run's content names.
    pub fn of_content(&self, content: &str) -> Option<SharedCatalogue> {
        let content: Value = serde_json::from_str(content).unwrap_or_default();
        let workflow = content.get("workflow").and_then(Value::as_str);
        let Some(workflow) = workflow else {
            return self.built_in.first().cloned();
        };
        let named = |it: &&SharedCatalogue| it.name().as_str() == workflow;
        self.built_in.iter().find(named).cloned()
    }

    /// The catalogue of a digest. It is read from the store once.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub async fn named(
        &self,
        store: &dyn Store,
        digest: Digest,
    ) -> Result<Option<SharedCatalogue>, StoreError> {
        if let Some(known) = self.at_hand(digest) {
            return Ok(Some(known));
        }
        let found = store.catalogue(digest).await?;
        if let Some(found) = &found {
            self.keep(found);
        }
        Ok(found)
    }

    /// The catalogue that a run continues under.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub async fn of_run(
        &self,
        store: &dyn Store,
        run: &Run,
    ) -> Result<Option<SharedCatalogue>, StoreError> {
        match run.catalogue {
            Some(digest) => self.named(store, digest).await,
            None => Ok(self.of_content(&run.content)),
        }
    }

    /// The catalogue that an interrupt was raised under.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub async fn of_interrupt(
        &self,
        store: &dyn Store,
        interrupt: &Interrupt,
    ) -> Result<Option<SharedCatalogue>, StoreError> {
        if let Some(digest) = interrupt.catalogue {
            return self.named(store, digest).await;
        }
        match store.run(interrupt.run).await? {
            Some(run) => self.of_run(store, &run).await,
            None => Ok(None),
        }
    }

    /// The program's own catalogues, and the last version of each other one that the store has.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub async fn all(&self, store: &dyn Store) -> Result<Vec<SharedCatalogue>, StoreError> {
        let mut all = self.built_in.clone();
        for row in store.catalogues().await?.into_iter().rev() {
            if !all.iter().any(|it| *it.name() == row.name) {
                all.extend(self.named(store, row.digest).await?);
            }
        }
        Ok(all)
    }
}
