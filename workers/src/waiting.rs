//! Runs that wait and no worker has: which of them may have something to do.

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

/// The waiting runs that may have something to do, as one process knows it: it looks at all of them once, and from then on
/// at those alone of which the store has told something. However many wait for people, an idle worker costs what happens.
#[derive(Debug, Default)]
pub struct WaitingRuns {
    noted: Mutex<Noted>,
    /// Whether all have been looked at. Held meanwhile: whoever comes has to know them, too.
    looked: Turn<bool>,
}

#[derive(Debug, Default)]
struct Noted {
    /// From the moment that all are looked at.
    notes: bool,
    count: u64,
    runs: HashMap<RunId, Note>,
}

#[derive(Debug, Default)]
struct Note {
    /// Another one each time that something is told.
    number: u64,
    /// Whose workers may take it, once that is known.
    workflow: Option<WorkflowName>,
}

impl WaitingRuns {
    /// The store has told something of a run.
    pub fn note(&self, run: RunId) {
        let mut noted = self.noted();
        if noted.notes {
            noted.note(run);
        }
    }

    /// Looks at all that wait, unless that was done.
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
        // What is told from here on is noted, so nothing falls between the pages.
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

    /// Those that a worker of the workflow may be able to take, each with the number of what was told of it last.
    pub(crate) fn of(&self, workflow: &WorkflowName) -> Vec<(RunId, u64)> {
        let noted = self.noted();
        let may_be = |note: &Note| note.workflow.as_ref().is_none_or(|it| it == workflow);
        let own = noted.runs.iter().filter(|(_run, note)| may_be(note));
        own.map(|(run, note)| (*run, note.number)).collect()
    }

    /// It has nothing to do, unless something was told of it since.
    pub(crate) fn rests(&self, run: RunId, number: u64) {
        let mut noted = self.noted();
        if noted.runs.get(&run).is_some_and(|it| it.number == number) {
            noted.runs.remove(&run);
        }
    }

    /// It waits, and is looked at by workers of its own workflow alone.
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
