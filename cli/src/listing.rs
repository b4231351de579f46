//! Whole lists, read page by page.

use control::{AskAgents, AskCheckpoints, AskJournal, AskMessages, AskRuns, LIVE};
use interrupt_router::RunId;
use interrupts::life::{Interrupt, RunState};
use interrupts::store::{
    Checkpoint, Filter, JournalEntry, NodeRow, Page, Pages, Run, Store, StoreError, StoredMessage,
};

use crate::backend::Backend;
use crate::exit::{Exit, Failure};

/// How many entries a page has.
pub(crate) const PAGE: u32 = 500;
/// The damaged rows of a list. The rest is shown, and these are reported at the end.
#[derive(Debug, Default)]
pub(crate) struct Damaged(Vec<Failure>);

impl Damaged {
    fn add(&mut self, failure: Failure) {
        let text = failure.to_string();
        if self.0.iter().all(|known| known.to_string() != text) {
            self.0.push(failure);
        }
    }

    /// How a command ends that has shown the rest.
    ///
    /// # Errors
    ///
    /// If anything is damaged: names all of it.
    pub(crate) fn end(self) -> Result<Exit, Failure> {
        let Some(first) = self.0.first() else {
            return Ok(Exit::Success);
        };
        let named: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        let failure = Failure::new(first.exit, named.join("; "));
        Err(match first.advice() {
            Some(advice) => failure.hint(advice),
            None => failure,
        })
    }
}

/// Reads all pages, and leaves out damaged rows.
async fn readable<T>(
    read: impl AsyncFn(Page) -> Result<Vec<(u64, T)>, Failure>,
    damaged: &mut Damaged,
) -> Result<Vec<T>, Failure> {
    let mut all = Vec::new();
    let (mut after, mut limit) = (0, PAGE);
    loop {
        match read(Page { after, limit }).await {
            Ok(rows) => {
                let is_last = rows.len() < limit as usize;
                for (position, row) in rows {
                    after = position;
                    all.push(row);
                }
                if is_last {
                    return Ok(all);
                }
            }
            // One by one, until the damaged one is the next.
            Err(failure) if failure.is_of_one_row() && limit > 1 => limit = 1,
            Err(failure) if failure.is_of_one_row() => {
                after = position_of(&failure, &read, after).await?;
                damaged.add(failure);
                limit = PAGE;
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// The position of the damaged row that follows a position: the first one after which the same failure no longer comes.
async fn position_of<T>(
    failure: &Failure,
    read: &impl AsyncFn(Page) -> Result<Vec<(u64, T)>, Failure>,
    after: u64,
) -> Result<u64, Failure> {
    let damaged = failure.to_string();
    let is_read = async |after: u64| match read(Page { after, limit: 1 }).await {
        Ok(_rows) => Ok(false),
        Err(other) if other.is_of_one_row() => Ok(other.to_string() == damaged),
        Err(other) => Err(other),
    };
    let (mut before, mut step) = (after, 1);
    let mut behind = loop {
        let next = after.saturating_add(step);
        if !is_read(next).await? {
            break next;
        }
        before = next;
        step = step.saturating_mul(2);
    };
    while behind - before > 1 {
        let middle = before + (behind - before) / 2;
        if is_read(middle).await? {
            before = middle;
        } else {
            behind = middle;
        }
    }
    Ok(behind)
}

fn of_states(states: &[RunState], page: Page) -> AskRuns {
    AskRuns {
        states: states.to_vec(),
        page,
    }
}

/// The runs in these states that can be read, or all of them, in the order of their creation.
pub(crate) async fn readable_runs(
    from: &dyn Backend,
    states: &[RunState],
    damaged: &mut Damaged,
) -> Result<Vec<Run>, Failure> {
    readable(
        async |page| from.ask(of_states(states, page)).await,
        damaged,
    )
    .await
}

/// The runs that can be read and have not ended.
pub(crate) async fn readable_live_runs(
    from: &dyn Backend,
    damaged: &mut Damaged,
) -> Result<Vec<Run>, Failure> {
    readable_runs(from, &LIVE, damaged).await
}

/// The nodes of a run that can be read, in the order in which they came to be.
pub(crate) async fn readable_nodes(
    from: &dyn Backend,
    run: RunId,
    damaged: &mut Damaged,
) -> Result<Vec<NodeRow>, Failure> {
    readable(
        async |page| from.ask(AskAgents { run, page }).await,
        damaged,
    )
    .await
}

/// The interrupts that can be read, in the order of their admission.
pub(crate) async fn readable_interrupts(
    from: &dyn Backend,
    filter: &Filter,
    damaged: &mut Damaged,
) -> Result<Vec<Interrupt>, Failure> {
    readable(async |page| from.interrupts(filter, page).await, damaged).await
}

/// The runs in these states, or all of them, in the order of their creation.
pub(crate) async fn runs(from: &dyn Backend, states: &[RunState]) -> Result<Vec<Run>, Failure> {
    Pages::of(PAGE)
        .values(|page| from.ask(of_states(states, page)))
        .await
}

/// The runs that have not ended.
pub(crate) async fn live_runs(from: &dyn Backend) -> Result<Vec<Run>, Failure> {
    runs(from, &LIVE).await
}

/// The nodes of a run, in the order in which they came to be.
pub(crate) async fn nodes(from: &dyn Backend, run: RunId) -> Result<Vec<NodeRow>, Failure> {
    Pages::of(PAGE)
        .values(|page| from.ask(AskAgents { run, page }))
        .await
}

/// Interrupts in the order of their admission.
pub(crate) async fn interrupts(
    from: &dyn Backend,
    filter: &Filter,
) -> Result<Vec<Interrupt>, Failure> {
    Pages::of(PAGE)
        .values(|page| from.interrupts(filter, page))
        .await
}

/// The whole journal of a run.
pub(crate) async fn journal(from: &dyn Backend, run: RunId) -> Result<Vec<JournalEntry>, Failure> {
    Pages::of(PAGE)
        .rest(|page| from.ask(AskJournal { run, page }))
        .await
}

/// The checkpoints of a run.
pub(crate) async fn checkpoints(
    from: &dyn Backend,
    run: RunId,
) -> Result<Vec<Checkpoint>, Failure> {
    Pages::of(PAGE)
        .rest(|page| from.ask(AskCheckpoints { run, page }))
        .await
}

/// The messages of a run.
pub(crate) async fn messages(
    from: &dyn Backend,
    run: RunId,
) -> Result<Vec<StoredMessage>, Failure> {
    Pages::of(PAGE)
        .rest(|page| from.ask(AskMessages { run, page }))
        .await
}

/// The runs in a store that have not ended.
pub(crate) async fn live_runs_in(store: &dyn Store) -> Result<Vec<Run>, StoreError> {
    Pages::of(PAGE).values(|page| store.runs(&LIVE, page)).await
}

/// Interrupts in a store, in the order of their admission.
pub(crate) async fn interrupts_in(
    store: &dyn Store,
    filter: &Filter,
) -> Result<Vec<Interrupt>, StoreError> {
    Pages::of(PAGE)
        .values(|page| store.interrupts(filter, page))
        .await
}
