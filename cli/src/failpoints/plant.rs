//! Faults that are planted, so that one sees that the auditor finds them.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use interrupt_router::RunId;
use interrupts::EffectId;
use interrupts::life::Admission;
use interrupts::store::{
    AdmitError, Admitted, Interrupts, JournalEntry, JournalError, JournalResult, NewRun, Page,
    Runs, Store, StoreError,
};
use jiff::Timestamp;
use store::{MemoryStore, StoreSettings};

/// Every so many results are forgotten.
const FORGOTTEN: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plant {
    None,
    /// Results are acknowledged and not kept.
    ForgetResults,
    /// Results that are there are not seen.
    HideResults,
    /// Events are acknowledged and not kept.
    ForgetAdmissions,
}

/// The operations that can be faulty.
pub(super) struct Plants {
    plant: Plant,
    store: Arc<dyn Store>,
    results: AtomicU32,
}

/// All that is not faulty is the store's.
impl Deref for Plants {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        &*self.store
    }
}

impl Plants {
    /// The fault of a name, or none.
    pub(super) fn parse(name: Option<&str>, store: Arc<dyn Store>) -> Option<Self> {
        let plant = match name {
            None => Plant::None,
            Some("forget-results") => Plant::ForgetResults,
            Some("hide-results") => Plant::HideResults,
            Some("forget-admissions") => Plant::ForgetAdmissions,
            Some(_) => return None,
        };
        Some(Self {
            plant,
            store,
            results: AtomicU32::new(0),
        })
    }

    pub(super) async fn admit(&self, admission: Admission) -> Result<Admitted, AdmitError> {
        if self.plant != Plant::ForgetAdmissions {
            return self.store.admit(admission).await;
        }
        let elsewhere = MemoryStore::new(StoreSettings::default());
        let run = NewRun {
            root: None,
            id: admission.run,
            alias: None,
            content: "{}".to_owned(),
        };
        let unknown = AdmitError::UnknownRun { run: run.id };
        elsewhere.create_run(run).await.map_err(|_taken| unknown)?;
        elsewhere.admit(admission).await
    }

    pub(super) async fn finish(
        &self,
        epoch: u64,
        effect: EffectId,
        content: String,
    ) -> Result<JournalEntry, JournalError> {
        let count = self.results.fetch_add(1, Ordering::SeqCst) + 1;
        if self.plant == Plant::ForgetResults
            && count.is_multiple_of(FORGOTTEN)
            && let Some(mut entry) = self.store.effect(effect).await?
        {
            let at = Timestamp::now();
            entry.result = Some(JournalResult {
                content,
                at,
                count: 0,
            });
            return Ok(entry);
        }
        self.store.finish(epoch, effect, content).await
    }

    pub(super) async fn journal(
        &self,
        run: RunId,
        page: Page,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        let mut entries = self.store.journal(run, page).await?;
        if self.plant == Plant::HideResults {
            entries.iter_mut().for_each(|entry| entry.result = None);
        }
        Ok(entries)
    }
}
