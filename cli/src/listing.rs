//! Whole lists, read page by page.

use interrupts::life::{Interrupt, RunState};
use interrupts::store::{
    AuditRow, Checkpoint, Filter, JournalEntry, NodeRow, Page, Run, Store, StoreError,
    StoredMessage,
};
use routing_core::RunId;

use crate::exit::Failure;
use crate::installation::Installation;

/// How many entries a page has.
const PAGE: u32 = 500;
/// The states of runs that have not ended.
const LIVE: [RunState; 5] = [
    RunState::Created,
    RunState::Running,
    RunState::Stopping,
    RunState::Paused,
    RunState::Waiting,
];

/// Reads pages until one is not full. `place` says where the next page begins.
async fn every<T, E>(
    read: impl AsyncFn(Page) -> Result<Vec<T>, E>,
    place: impl Fn(&T) -> u64,
) -> Result<Vec<T>, E> {
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
pub(crate) async fn runs(
    from: &dyn Installation,
    states: &[RunState],
) -> Result<Vec<Run>, Failure> {
    let rows = every(
        async |page| from.runs(states, page).await,
        |(position, _run)| *position,
    );
    Ok(rows
        .await?
        .into_iter()
        .map(|(_position, run)| run)
        .collect())
}

/// The runs that have not ended.
pub(crate) async fn live_runs(from: &dyn Installation) -> Result<Vec<Run>, Failure> {
    runs(from, &LIVE).await
}

/// The nodes of a run, in the order in which they came to be.
pub(crate) async fn nodes(from: &dyn Installation, run: RunId) -> Result<Vec<NodeRow>, Failure> {
    let rows = every(
        async |page| from.nodes(run, page).await,
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
    from: &dyn Installation,
    filter: &Filter,
) -> Result<Vec<Interrupt>, Failure> {
    let rows = every(
        async |page| from.interrupts(filter, page).await,
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
    from: &dyn Installation,
    run: RunId,
) -> Result<Vec<JournalEntry>, Failure> {
    every(
        async |page| from.journal(run, page).await,
        |entry| entry.position,
    )
    .await
}

/// The checkpoints of a run.
pub(crate) async fn checkpoints(
    from: &dyn Installation,
    run: RunId,
) -> Result<Vec<Checkpoint>, Failure> {
    every(
        async |page| from.checkpoints(run, page).await,
        |checkpoint| checkpoint.id.number,
    )
    .await
}

/// The messages of a run.
pub(crate) async fn messages(
    from: &dyn Installation,
    run: RunId,
) -> Result<Vec<StoredMessage>, Failure> {
    every(
        async |page| from.messages(run, page).await,
        |message| message.position,
    )
    .await
}

/// A page of the audit after a position; it was the last one where it is not full.
pub(crate) async fn audit(
    from: &dyn Installation,
    after: u64,
) -> Result<(Vec<AuditRow>, bool), Failure> {
    let page = Page { after, limit: PAGE };
    let rows = from.audit(page).await?;
    let is_last = rows.len() < PAGE as usize;
    Ok((rows, is_last))
}

/// The runs in a store that have not ended.
pub(crate) async fn live_runs_in(store: &dyn Store) -> Result<Vec<Run>, StoreError> {
    let rows = every(
        async |page| store.runs(&LIVE, page).await,
        |(position, _run)| *position,
    );
    Ok(rows
        .await?
        .into_iter()
        .map(|(_position, run)| run)
        .collect())
}

/// Interrupts in a store, in the order of their admission.
pub(crate) async fn interrupts_in(
    store: &dyn Store,
    filter: &Filter,
) -> Result<Vec<Interrupt>, StoreError> {
    // Page by page by hand: what this makes can be given to another thread.
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = Page { after, limit: PAGE };
        let rows = store.interrupts(filter, page).await?;
        let is_last = rows.len() < PAGE as usize;
        for (position, interrupt) in rows {
            after = position;
            all.push(interrupt);
        }
        if is_last {
            return Ok(all);
        }
    }
}
