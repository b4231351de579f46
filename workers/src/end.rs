//! The end of a run, as its worker reports it.

use futures_util::future::try_join_all;
use interrupts::life::RunState;
use interrupts::store::{JournalEntry, NodeActivity, Pages};
use journal::entry::{InterruptEnd, InterruptOutcome};
use journal::kind::{DISPATCH, INTERRUPT};
use serde_json::Value;

use crate::agents::ended;
use crate::error::{WorkError, check_reason};
use crate::key::WorkKey;
use crate::owned::Owned;
use crate::request::{left_out, outcome_of};
use crate::run::Work;

/// How many entries of the journal are read at a time.
const PAGE: u32 = 200;

/// Why what was begun is abandoned.
const RUN_HAS_ENDED: &str = "its run has ended";

/// How a run ends.
#[derive(Debug, Clone, PartialEq)]
pub enum RunResult {
    /// Its work is done, with this result.
    Completed(Value),
    /// It cannot go on.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Owned<'_> {
    /// Ends the run. What it had begun is abandoned, and its agents end with it.
    ///
    /// # Errors
    ///
    /// [`WorkError::Ended`], also if it is ended for the second time; [`WorkError::Field`] if the reason is too long;
    /// [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may be ended in part: the next worker that takes it ends it again.
    pub async fn end(self, result: RunResult, reason: String) -> Result<Work, WorkError> {
        let (state, activity) = match &result {
            RunResult::Completed(_) => (RunState::Completed, NodeActivity::Completed),
            RunResult::Failed => (RunState::Failed, NodeActivity::Failed),
            RunResult::Cancelled => (RunState::Cancelled, NodeActivity::Cancelled),
        };
        check_reason(&reason)?;
        self.leave_out().await?;
        let agents = self.all_agents().await?;
        let open = agents.into_iter().filter(|row| !row.activity.is_final());
        self.put(open.map(|row| ended(row, activity)).collect())
            .await?;
        if let RunResult::Completed(result) = result {
            let last = self.protocol.last_checkpoint(&self.run).await?;
            let state = last.map_or(Value::Null, |last| last.state);
            self.saved(state, reason.clone(), Some(result.to_string()))
                .await?;
        }
        if self.run.state == RunState::Waiting {
            self.turn(RunState::Running, None).await?;
        }
        let run = self.turn(state, Some(reason)).await?;
        self.protocol.with_input(run).await
    }

    /// Records in the journal the outcome of each question that was begun, or that it is abandoned, as each dispatch is.
    async fn leave_out(&self) -> Result<(), WorkError> {
        let mut pages = Pages::of(PAGE);
        while let Some(open) = pages
            .next(|page| self.store().unknown_effects(self.run.id, page))
            .await?
        {
            // At once: the store writes them in few transactions.
            let left = open.into_iter().map(|entry| self.leave(entry));
            try_join_all(left).await?;
        }
        Ok(())
    }

    async fn leave(&self, entry: JournalEntry) -> Result<(), WorkError> {
        let content = match entry.intent.kind.as_str() {
            INTERRUPT => self.outcome(entry.intent.place.as_deref()).await?,
            DISPATCH => left_out(RUN_HAS_ENDED)?,
            // It is not known whether it happened, so nothing is recorded.
            _ => return Ok(()),
        };
        self.finished(entry.intent.effect, content).await
    }

    async fn outcome(&self, place: Option<&str>) -> Result<String, WorkError> {
        let key = place.and_then(WorkKey::of_question);
        let status = match key {
            Some(key) => self.protocol.find_question(&self.run, &key).await?,
            None => None,
        };
        let outcome = match status {
            Some(status) if status.is_settled() => outcome_of(&status),
            Some(_) | None => InterruptOutcome {
                requested: false,
                end: InterruptEnd::LeftOut {
                    reason: RUN_HAS_ENDED.to_owned(),
                },
            },
        };
        Ok(serde_json::to_string(&outcome)?)
    }
}
