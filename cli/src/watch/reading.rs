//! Reads the backend again and again, beside the screens.

use std::sync::Arc;

use interrupt_router::RunId;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;

use super::snapshot::{Snapshot, SnapshotReader, SnapshotRequest};
use crate::backend::Backend;
use crate::exit::{Exit, Failure};

/// How much slower the screens poll than a command that waits for one thing.
const SLOWER: u32 = 4;

/// Reads as long as it is alive. It needs a [`tokio::task::LocalSet`].
pub(super) struct BackgroundReading {
    snapshots: mpsc::Receiver<Result<Snapshot, Failure>>,
    wanted: watch::Sender<SnapshotRequest>,
    again: Arc<Notify>,
    task: JoinHandle<()>,
}

impl BackgroundReading {
    /// Begins to read, with `only` nothing but what concerns that run.
    pub(super) fn of(backend: Arc<dyn Backend>, only: Option<RunId>) -> Self {
        let (told, snapshots) = mpsc::channel(1);
        let (wishes, mut wanted) = watch::channel(SnapshotRequest::default());
        let again = Arc::new(Notify::new());
        let nudged = Arc::clone(&again);
        let pause = backend.pace() * SLOWER;
        let mut feed = SnapshotReader::new(backend, only);
        let task = tokio::task::spawn_local(async move {
            loop {
                let now = wanted.borrow_and_update().clone();
                if told.send(feed.read(&now).await).await.is_err() {
                    return;
                }
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = nudged.notified() => {}
                    changed = wanted.changed() => if changed.is_err() {
                        return;
                    },
                }
            }
        });
        Self {
            snapshots,
            wanted: wishes,
            again,
            task,
        }
    }

    /// What was read next.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read; the next time it may.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was not returned is returned the next time.
    pub(super) async fn next(&mut self) -> Result<Snapshot, Failure> {
        let next = self.snapshots.recv().await;
        next.unwrap_or_else(|| Err(Failure::new(Exit::Failure, "nothing is read any more")))
    }

    /// Reads this too from now on.
    pub(super) fn look_at(&self, wanted: SnapshotRequest) {
        self.wanted.send_if_modified(|before| {
            let is_other = *before != wanted;
            *before = wanted;
            is_other
        });
    }

    /// Looks again without waiting.
    pub(super) fn look_again(&self) {
        self.again.notify_one();
    }
}

impl Drop for BackgroundReading {
    fn drop(&mut self) {
        self.task.abort();
    }
}
