//! Looks at the installation again and again, beside the screens.

use std::sync::Arc;

use routing_core::RunId;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;

use super::snapshot::{Feed, Snapshot};
use crate::exit::{Exit, Failure};
use crate::installation::Installation;

/// How much slower the screens look than somebody who waits for one thing.
const SLOWER: u32 = 4;

/// What is read, while this is held. It needs a [`tokio::task::LocalSet`].
pub(super) struct Reading {
    snapshots: mpsc::Receiver<Result<Snapshot, Failure>>,
    looked_at: watch::Sender<Option<RunId>>,
    again: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Reading {
    /// Begins to read.
    pub(super) fn of(installation: Arc<dyn Installation>) -> Self {
        let (told, snapshots) = mpsc::channel(1);
        let (looked_at, mut wanted) = watch::channel(None);
        let again = Arc::new(Notify::new());
        let nudged = Arc::clone(&again);
        let pause = installation.pace() * SLOWER;
        let mut feed = Feed::new(installation);
        let task = tokio::task::spawn_local(async move {
            loop {
                let run = *wanted.borrow_and_update();
                if told.send(feed.read(run).await).await.is_err() {
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
            looked_at,
            again,
            task,
        }
    }

    /// What was read next.
    ///
    /// # Errors
    ///
    /// Where the installation cannot be read; the next time it may.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was not returned is returned the next time.
    pub(super) async fn next(&mut self) -> Result<Snapshot, Failure> {
        let next = self.snapshots.recv().await;
        next.unwrap_or_else(|| Err(Failure::new(Exit::Failure, "nothing is read any more")))
    }

    /// Looks at a run's stream from now on.
    pub(super) fn look_at(&self, run: Option<RunId>) {
        self.looked_at.send_if_modified(|looked_at| {
            let is_other = *looked_at != run;
            *looked_at = run;
            is_other
        });
    }

    /// Looks again without waiting.
    pub(super) fn look_again(&self) {
        self.again.notify_one();
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.task.abort();
    }
}
