//! Outcomes of questions that are recorded while their responses are on the way to the worker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interrupt_router::RunId;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// The runs with an outcome that is being recorded. Their workers' next requests wait for that, so that they read what
/// was written.
#[derive(Debug, Default)]
pub(crate) struct Settling(Mutex<HashMap<RunId, Arc<Turn<()>>>>);

impl Settling {
    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Turn<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to record an outcome of a run, until what it returns is dropped.
    ///
    /// Cancel safe: it only waits for an outcome of the run that is being recorded already.
    pub(super) async fn begin(self: &Arc<Self>, run: RunId) -> Recording {
        let turn = Arc::clone(self.lock().entry(run).or_default());
        Recording {
            run,
            turn: Some(turn.lock_owned().await),
            settling: Arc::clone(self),
        }
    }

    /// Waits until everything is recorded whose recording has begun.
    ///
    /// Cancel safe: it only waits.
    pub(super) async fn settled(&self, run: RunId) {
        let turn = self.lock().get(&run).map(Arc::clone);
        if let Some(turn) = turn {
            let guard = turn.lock_owned().await;
            self.let_go(run, guard);
        }
    }

    fn let_go(&self, run: RunId, guard: OwnedMutexGuard<()>) {
        let mut runs = self.lock();
        drop(guard);
        // Only the map has it.
        let is_last = |turn: &Arc<Turn<()>>| Arc::strong_count(turn) == 1;
        if runs.get(&run).is_some_and(is_last) {
            runs.remove(&run);
        }
    }
}

/// Something that is being recorded.
pub(super) struct Recording {
    run: RunId,
    turn: Option<OwnedMutexGuard<()>>,
    settling: Arc<Settling>,
}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Some(guard) = self.turn.take() {
            self.settling.let_go(self.run, guard);
        }
    }
}
