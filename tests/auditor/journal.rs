//! The journals of all runs.

use interrupts::store::{JournalEntry, Page, Run, Store, StoreError};

use super::history::PAGE;

/// A run with its journal.
pub(super) struct Journal {
    pub(super) run: Run,
    pub(super) entries: Vec<JournalEntry>,
}

pub(super) async fn read(store: &dyn Store) -> Result<Vec<Journal>, StoreError> {
    let mut journals = Vec::new();
    let mut after = 0;
    loop {
        let runs = store.runs(&[], Page { after, limit: PAGE }).await?;
        let Some((last, _run)) = runs.last() else {
            return Ok(journals);
        };
        after = *last;
        for (_position, run) in runs {
            let entries = of_run(store, &run).await?;
            journals.push(Journal { run, entries });
        }
    }
}

async fn of_run(store: &dyn Store, run: &Run) -> Result<Vec<JournalEntry>, StoreError> {
    let mut entries = Vec::new();
    let mut after = 0;
    loop {
        let page = store.journal(run.id, Page { after, limit: PAGE }).await?;
        let Some(last) = page.last() else {
            return Ok(entries);
        };
        after = last.position;
        entries.extend(page);
    }
}
