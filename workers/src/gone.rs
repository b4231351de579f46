//! Programs that ask and are gone. The hook of a coding agent lives as long as one question: once its process has died, no
//! one hears the answer, so the question is withdrawn and its run ends.

use std::sync::Arc;

use interrupts::catalogue::CatalogueBook;
use interrupts::life::RunState;
use interrupts::policy::Policy;
use interrupts::store::{Pages, Run, Store};
use interrupts::{Labels, OwnerName};
use jiff::{SignedDuration, Timestamp};
use journal::{Workflow, executed_by_worker};
use serde_json::Value;

use crate::end::RunResult;
use crate::error::WorkError;
use crate::lease::Taking;
use crate::protocol::Protocol;
use crate::run::input_of;

/// The member of a run's input that says that the run is over when its process is.
pub const ENDS_WITH_PROCESS: &str = "endsWithItsProcess";

/// Why such a run ends.
const REASON: &str = "the program that asked has gone, and no one would hear the answer";

/// How long this process owns such a run.
const LEASE: SignedDuration = SignedDuration::from_secs(30);

/// The states of runs whose program waits.
const AT_WORK: [RunState; 2] = [RunState::Running, RunState::Waiting];

/// How many runs are read together.
const PAGE: u32 = 200;

/// Finds the runs of programs that are gone.
pub struct GoneAskers<'a> {
    /// Keeps everything.
    pub store: &'a dyn Store,
    /// What workflows say of themselves.
    pub catalogues: &'a CatalogueBook,
    /// The policy for questions.
    pub policy: &'a Arc<Policy>,
    /// This process, as an owner.
    pub owner: &'a OwnerName,
    /// Whether the process behind a name is known to be gone before its lease is over.
    pub is_gone: &'a (dyn Fn(&OwnerName) -> bool + Sync),
}

impl GoneAskers<'_> {
    /// Withdraws the questions of those that are gone, and ends their runs. Returns how many it has ended; one that
    /// another process takes up meanwhile is left to that process.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropped, some are ended; the next look ends the others.
    pub async fn end(&self, now: Timestamp) -> Result<usize, WorkError> {
        let runs = Pages::of(PAGE).values(|page| self.store.runs(&AT_WORK, page));
        let mut ended = 0;
        for run in runs.await? {
            if self.end_one(&run, now).await.is_ok_and(|is_over| is_over) {
                ended += 1;
            }
        }
        Ok(ended)
    }

    /// Does so for one run, before a decision about its questions. Returns whether its program is gone.
    ///
    /// # Errors
    ///
    /// If the run cannot be ended, such as when another process takes it up.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it is ended or not; the next look ends it.
    pub async fn end_one(&self, run: &Run, now: Timestamp) -> Result<bool, WorkError> {
        let is_over = self.is_over(run, now);
        if is_over {
            self.end_run(run).await?;
        }
        Ok(is_over)
    }

    fn is_over(&self, run: &Run, now: Timestamp) -> bool {
        let ends_with_process = || {
            let input = input_of(run).unwrap_or_default();
            input.get(ENDS_WITH_PROCESS).and_then(Value::as_bool) == Some(true)
        };
        let is_let_go = match &run.lease {
            Some(lease) => lease.until <= now || (self.is_gone)(&lease.owner),
            None => true,
        };
        AT_WORK.contains(&run.state)
            && is_let_go
            && executed_by_worker(&run.content)
            && ends_with_process()
    }

    async fn end_run(&self, run: &Run) -> Result<(), WorkError> {
        let Workflow::Embedded(workflow) = Workflow::in_content(&run.content) else {
            return Ok(());
        };
        let protocol = Protocol {
            store: self.store,
            catalogues: self.catalogues,
            policy: self.policy,
            workflow: &workflow,
        };
        let lost = run.lease.as_ref().map(|lease| lease.owner.clone());
        let taking = Taking {
            owner: self.owner.clone(),
            lease: LEASE,
            lost: lost.filter(|owner| (self.is_gone)(owner)),
            names_try: false,
            labels: Labels::default(),
        };
        let owned = protocol.take(run.id, &taking).await?;
        for question in protocol.unsettled(&owned.run).await? {
            let over = owned.withdraw(&question.key).await?;
            owned.settled(over).await?;
        }
        owned.end(RunResult::Cancelled, REASON.to_owned()).await?;
        Ok(())
    }
}
