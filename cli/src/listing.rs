//! Whole lists of a store, read page by page.

use interrupts::life::{Interrupt, RunState};
use interrupts::store::{
    AuditRow, Checkpoint, Filter, JournalEntry, NodeRow, Page, Run, Store, StoreError,
    StoredMessage,
};
use routing_core::RunId;

/// How many entries a page has.
const PAGE: u32 = 500;

/// Reads pages until one is not full. `place` says where the next page begins.
async fn every<T>(
    read: impl AsyncFn(Page) -> Result<Vec<T>, StoreError>,
    place: impl Fn(&T) -> u64,
) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    let mut after = 0;
    loop {
        let page = Page { after, limit: PAGE };
        let mut entries = read(page).await?;
        let is_last = entries.len() < PAGE as usize;
        if let Some(last) = entries.last() {
            after = place(last);
        }
        all.append(&mut entries);
        if is_last {
            return Ok(all);
        }
    }
}

/// The runs in these states, or all of them, in the order of their creation.
pub(crate) async fn runs(store: &dyn Store, states: &[RunState]) -> Result<Vec<Run>, StoreError> {
    let rows = every(
        async |page| store.runs(states, page).await,
        |(position, _run)| *position,
    );
    Ok(rows
        .await?
        .into_iter()
        .map(|(_position, run)| run)
        .collect())
}

/// The runs that have not ended.
pub(crate) async fn live_runs(store: &dyn Store) -> Result<Vec<Run>, StoreError> {
    let live: Vec<RunState> = RunState::ALL
        .into_iter()
        .filter(|state| !state.is_final())
        .collect();
    runs(store, &live).await
}

/// The nodes of a run, in the order in which they came to be.
pub(crate) async fn nodes(store: &dyn Store, run: RunId) -> Result<Vec<NodeRow>, StoreError> {
    let rows = every(
        async |page| store.nodes(Some(run), page).await,
        |(position, _node)| *position,
    );
    Ok(rows
        .await?
        .into_iter()
        .map(|(_position, node)| node)
        .collect())
}

/// Interrupts in the order of their admission.
pub(crate) async fn interrupts(
    store: &dyn Store,
    filter: &Filter,
) -> Result<Vec<Interrupt>, StoreError> {
    let rows = every(
        async |page| store.interrupts(filter, page).await,
        |(position, _interrupt)| *position,
    );
    Ok(rows
        .await?
        .into_iter()
        .map(|(_position, interrupt)| interrupt)
        .collect())
}

/// The whole journal of a run.
pub(crate) async fn journal(
    store: &dyn Store,
    run: RunId,
) -> Result<Vec<JournalEntry>, StoreError> {
    every(
        async |page| store.journal(run, page).await,
        |entry| entry.position,
    )
    .await
}

/// The checkpoints of a run.
pub(crate) async fn checkpoints(
    store: &dyn Store,
    run: RunId,
) -> Result<Vec<Checkpoint>, StoreError> {
    every(
        async |page| store.checkpoints(run, page).await,
        |checkpoint| checkpoint.id.number,
    )
    .await
}

/// The messages of a run.
pub(crate) async fn messages(
    store: &dyn Store,
    run: RunId,
) -> Result<Vec<StoredMessage>, StoreError> {
    every(
        async |page| store.messages(run, page).await,
        |message| message.position,
    )
    .await
}

/// A page of the audit after a position; it was the last one where it is not full.
pub(crate) async fn audit(
    store: &dyn Store,
    after: u64,
) -> Result<(Vec<AuditRow>, bool), StoreError> {
    let page = Page { after, limit: PAGE };
    let rows = store.audit(page).await?;
    let is_last = rows.len() < PAGE as usize;
    Ok((rows, is_last))
}
