//! Waiting runs without an owner: which of them may be able to continue.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::lock::Mutex as Turn;
use interrupts::WorkflowName;
use interrupts::life::RunState;
use interrupts::store::{Pages, Run, Store, StoreError};
use journal::{Workflow, executed_by_worker};
use routing_core::RunId;

/// How many runs are read together.
const PAGE: u32 = 200;

/// The waiting runs that may be able to continue, as one server knows them. It checks all of them once, and afterwards only
/// those that the outbox mentions, so an idle worker costs the same however many runs wait for people.
#[derive(Debug, Default)]
pub struct WaitingRuns {
    noted: Mutex<Noted>,
    /// Whether all were checked. Locked during the check, so that every caller sees the result.
    looked: Turn<bool>,
}

#[derive(Debug, Default)]
struct Noted {
    /// Whether notes are taken: from the start of the first check.
    notes: bool,
    count: u64,
    runs: HashMap<RunId, WaitingNote>,
}

#[derive(Debug, Default)]
struct WaitingNote {
    /// Changes with each note.
    number: u64,
    /// Whose workers may take it, once known.
    workflow: Option<WorkflowName>,
}

impl WaitingRuns {
    /// Notes that the outbox mentions a run.
    pub fn note(&self, run: RunId) {
        let mut noted = self.noted();
        if noted.notes {
            noted.note(run);
        }
    }

    /// Notes all waiting runs, once.
    ///
    /// # Errors
    ///
    /// [`StoreError`]: it is done again then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it is done again.
    pub(crate) async fn look(&self, store: &dyn Store) -> Result<(), StoreError> {
        let mut looked = self.looked.lock().await;
        if *looked {
            return Ok(());
        }
        // Notes are taken from here on, so nothing is missed between the pages.
        self.noted().notes = true;
        let mut pages = Pages::of(PAGE);
        while let Some(runs) = pages
            .next(|page| store.runs(&[RunState::Waiting], page))
            .await?
        {
            let mut noted = self.noted();
            for (_position, run) in runs {
                if executed_by_worker(&run.content) {
                    noted.note(run.id);
                }
            }
        }
        *looked = true;
        Ok(())
    }

    /// The runs that a worker of the workflow may be able to take, each with the number of its last note.
    pub(crate) fn of(&self, workflow: &WorkflowName) -> Vec<(RunId, u64)> {
        let noted = self.noted();
        let may_be = |note: &WaitingNote| note.workflow.as_ref().is_none_or(|it| it == workflow);
        let own = noted.runs.iter().filter(|(_run, note)| may_be(note));
        own.map(|(run, note)| (*run, note.number)).collect()
    }

    /// Drops a run that cannot continue, unless it was noted again since.
    pub(crate) fn rests(&self, run: RunId, number: u64) {
        let mut noted = self.noted();
        if noted.runs.get(&run).is_some_and(|it| it.number == number) {
            noted.runs.remove(&run);
        }
    }

    /// Keeps the workflow of a run, so that workers of others skip it.
    pub(crate) fn is_known(&self, run: &Run) {
        if let (Workflow::Embedded(name), Some(note)) = (
            Workflow::in_content(&run.content),
            self.noted().runs.get_mut(&run.id),
        ) {
            note.workflow = Some(name);
        }
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        // Each change is one step, so a panic elsewhere leaves it whole.
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Noted {
    fn note(&mut self, run: RunId) {
        self.count += 1;
        self.runs.entry(run).or_default().number = self.count;
    }
}
