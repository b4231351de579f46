//! The ports of runs and checkpoints.

use async_trait::async_trait;
use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::{
    Checkpoint, CheckpointDraft, CheckpointError, CheckpointId, Checkpoints, Delivery, ForkStart,
    Journal as _, NewRun, Page, PageBack, Pages, Run, RunError, Runs, StoreError,
};
use jiff::SignedDuration;

use super::{Adapter, count_rows_when_due};
use crate::operation::{ChangeRun, CreateRun, Fork, RunChange, Save};
use crate::relational::{
    Cell, Found, Relational, Rows as _, body, checkpoint, columns, list, numbered, position, sealed,
};
use crate::tables::RunRow;

/// The most bytes of a run's own name: an index of PostgreSQL has no room for much more.
const LONGEST_NAME: usize = 2_000;

/// How many entries of a journal are read at a time.
const ENTRIES_AT_A_TIME: u32 = 1_000;

#[async_trait]
impl<B: Relational> Runs for Adapter<B> {
    async fn create_run(&self, new: NewRun) -> Result<Run, RunError> {
        check_name(&new)?;
        self.backend.submit(CreateRun { new }).await
    }

    async fn fork_run_with(
        &self,
        from: CheckpointId,
        new: NewRun,
        start: ForkStart,
    ) -> Result<Run, RunError> {
        check_name(&new)?;
        // Where there is none, the transaction says so, unless the fork exists already.
        let checkpoint = self.checkpoint(from).await?;
        let count = checkpoint.map_or(0, |checkpoint| checkpoint.journal);
        let read = |page| self.journal(from.run, page);
        let fork = Fork {
            from,
            new,
            count,
            journal: Pages::of(ENTRIES_AT_A_TIME).rest(read).await?,
            start,
        };
        self.backend.submit(fork).await
    }

    async fn own_run(&self, id: RunId, owner: Delivery) -> Result<Run, RunError> {
        count_rows_when_due(self).await?;
        alter(&self.backend, id, RunChange::Own(owner)).await
    }

    async fn renew_run(
        &self,
        id: RunId,
        epoch: u64,
        lease: SignedDuration,
    ) -> Result<Run, RunError> {
        alter(&self.backend, id, RunChange::Renew { epoch, lease }).await
    }

    async fn release_run(&self, id: RunId, epoch: u64) -> Result<Run, RunError> {
        alter(&self.backend, id, RunChange::Release { epoch }).await
    }

    async fn change_run(
        &self,
        id: RunId,
        epoch: u64,
        state: RunState,
        reason: Option<String>,
    ) -> Result<Run, RunError> {
        let change = RunChange::Become {
            epoch,
            state,
            reason,
        };
        alter(&self.backend, id, change).await
    }

    async fn run(&self, id: RunId) -> Result<Option<Run>, StoreError> {
        self.backend.record::<RunRow>(&id).await
    }

    async fn run_of(&self, alias: &str) -> Result<Option<Run>, StoreError> {
        let sql = concat!("SELECT ", columns!(runs), " FROM runs WHERE alias = ?");
        self.backend
            .point(sql, [Cell::made(&alias)], |row| body(row, &sealed::RUNS))
            .await
    }

    async fn runs(&self, states: &[RunState], page: Page) -> Result<Vec<(u64, Run)>, StoreError> {
        let only_live = !states.is_empty() && states.iter().all(|state| !state.is_final());
        let only_at_work = only_live && !states.contains(&RunState::Waiting);
        let states = list(states.iter().map(|state| state.name()));
        // A statement for each, so that each has its index.
        let sql = match (only_at_work, only_live) {
            (true, _) => {
                concat!(
                    "SELECT ",
                    columns!(runs),
                    " FROM runs INDEXED BY runs_at_work WHERE position > ?1 \
                     AND state NOT IN ('completed', 'failed', 'cancelled', 'waiting') \
                     AND state IN (SELECT value FROM json_each(?2)) \
                     ORDER BY position LIMIT ?3"
                )
            }
            (false, true) => {
                concat!(
                    "SELECT ",
                    columns!(runs),
                    " FROM runs INDEXED BY runs_live WHERE position > ?1 \
                     AND state NOT IN ('completed', 'failed', 'cancelled') \
                     AND state IN (SELECT value FROM json_each(?2)) \
                     ORDER BY position LIMIT ?3"
                )
            }
            (false, false) => {
                concat!(
                    "SELECT ",
                    columns!(runs),
                    " FROM runs WHERE position > ?1 \
                     AND (CAST(?2 AS TEXT) IS NULL OR state IN (SELECT value FROM json_each(?2))) \
                     ORDER BY position LIMIT ?3"
                )
            }
        };
        let values = [Cell::position(page.after)?, states, Cell::limit(page.limit)];
        self.backend
            .rows(sql, values, |row| numbered(row, &sealed::RUNS))
            .await
    }

    async fn last_runs(&self, page: PageBack) -> Result<Vec<(u64, Run)>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(runs),
            " FROM runs WHERE (CAST(?1 AS BIGINT) IS NULL OR position < ?1) \
             ORDER BY position DESC LIMIT ?2"
        );
        let before = Cell::number(page.before.map(position).transpose()?);
        self.backend
            .rows(sql, [before, Cell::limit(page.limit)], |row| {
                numbered(row, &sealed::RUNS)
            })
            .await
    }
}

#[async_trait]
impl<B: Relational> Checkpoints for Adapter<B> {
    async fn save(&self, draft: CheckpointDraft) -> Result<Checkpoint, CheckpointError> {
        column("the content of a checkpoint", &draft.content, usize::MAX)?;
        self.backend.submit(Save { draft }).await
    }

    async fn checkpoint(&self, id: CheckpointId) -> Result<Option<Checkpoint>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(checkpoints),
            " FROM checkpoints WHERE id = ?"
        );
        whole(self.backend.row(sql, [Cell::made(&id)], checkpoint).await?)
    }

    async fn last_checkpoint(&self, run: RunId) -> Result<Option<Checkpoint>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(checkpoints),
            " FROM checkpoints WHERE run = ? ORDER BY number DESC LIMIT 1"
        );
        whole(
            self.backend
                .row(sql, [Cell::made(&run)], checkpoint)
                .await?,
        )
    }

    async fn checkpoints(&self, run: RunId, page: Page) -> Result<Vec<Checkpoint>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(checkpoints),
            " FROM checkpoints WHERE run = ? AND number > ? ORDER BY number LIMIT ?"
        );
        let values = [
            Cell::made(&run),
            Cell::position(page.after)?,
            Cell::limit(page.limit),
        ];
        self.backend.rows(sql, values, checkpoint).await
    }
}

/// A checkpoint that a run may continue from.
fn whole(found: Option<Checkpoint>) -> Found<Option<Checkpoint>> {
    found.map(Checkpoint::whole).transpose()
}

/// Checks a text that is a column of its own. All other texts are parts of JSON, which escapes U+0000; PostgreSQL has no
/// column that could keep it, so no store does.
fn column(what: &str, text: &str, most: usize) -> Result<(), StoreError> {
    let detail = match text.len() {
        length if length > most => {
            format!("{what} has at most {most} bytes, this one has {length}")
        }
        _ if text.contains('\0') => format!("{what} cannot have the character U+0000"),
        _ => return Ok(()),
    };
    Err(StoreError::InvalidValue { detail })
}

fn check_name(new: &NewRun) -> Result<(), StoreError> {
    match &new.alias {
        Some(alias) => column("the name of a run", alias, LONGEST_NAME),
        None => Ok(()),
    }
}

/// Runs one change of one run.
async fn alter<B: Relational>(backend: &B, id: RunId, change: RunChange) -> Result<Run, RunError> {
    backend.submit(ChangeRun { id, change }).await
}
