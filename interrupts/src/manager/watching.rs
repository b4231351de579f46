//! Watching the store for writes of other processes: when the notifier says so, and at every poll interval.

use std::sync::Arc;

use super::shared::Shared;
use crate::life::Notice;
use crate::store::{Notification, OutboxRow, Page, Pages, StoreError};

const PAGE: u32 = 500;

impl Shared {
    /// Reads the outbox as it grows, and wakes the runs that it names, until the manager ends.
    ///
    /// One read serves all runs of the process, however many there are.
    pub(crate) async fn watch_store(self: Arc<Self>) {
        let mut position = None;
        loop {
            match self.read_on(position).await {
                Ok(read) => position = Some(read),
                // Each owned run also checks its inbox whenever its lease is renewed.
                Err(error) => tracing::warn!(%error, "the outbox could not be read"),
            }
            tokio::select! {
                () = self.settings.notifier.heard() => {}
                () = tokio::time::sleep(self.settings.times.poll) => {}
                () = self.closed.cancelled() => return,
            }
        }
    }

    /// Reads the rows after a position; the first time, only finds the end of the outbox.
    async fn read_on(&self, position: Option<u64>) -> Result<u64, StoreError> {
        let Some(position) = position else {
            let end = self.end_of_outbox().await?;
            // Earlier rows need no read: each owned run checks its inbox now, and watchers of other runs read the store
            // after this.
            let _first = self.follows.set(());
            self.wake_all();
            self.beat();
            return Ok(end);
        };
        let mut pages = Pages::after(position, PAGE);
        let store = &self.settings.store;
        while let Some(rows) = pages.next(|page| store.outbox(page)).await? {
            for row in &rows {
                self.wake_for(row);
            }
            self.beat();
        }
        Ok(pages.position())
    }

    fn wake_for(&self, row: &OutboxRow) {
        match &row.notification {
            Notification::Interrupt { run, notice, .. } => match notice {
                Notice::Admitted
                | Notice::ModeRaised
                | Notice::Asked { .. }
                | Notice::TakenBack { .. }
                | Notice::Redriven
                | Notice::ReviewOpened
                | Notice::ReviewChanged { .. }
                | Notice::Dispatch { .. }
                | Notice::Ended => self.wake(*run),
                // Only the run's owner does these.
                Notice::Delivered | Notice::Acknowledged | Notice::DeadLettered => {}
            },
            Notification::Message { run, .. } => self.wake(*run),
            // If this process does not own the run, its watchers are notified.
            Notification::Run { run, state, .. } if !state.is_final() => self.tell_of_unkept(*run),
            Notification::Reroute { .. }
            | Notification::Node { .. }
            | Notification::Effect { .. }
            | Notification::Checkpoint { .. }
            | Notification::Run { .. }
            | Notification::Rule { .. } => {}
        }
    }

    /// The position of the last row, found by binary search: positions have no gaps, and old rows may be gone.
    async fn end_of_outbox(&self) -> Result<u64, StoreError> {
        let mut above = 1;
        while self.has_row_after(above - 1).await? {
            if self.has_row_after(above).await? {
                above *= 2;
            } else {
                return Ok(above);
            }
        }
        // The last row lies at or below `above - 1`, and at or above half of it.
        let (mut low, mut high) = (above / 2, above - 1);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.has_row_after(middle - 1).await? {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Ok(low)
    }

    async fn has_row_after(&self, position: u64) -> Result<bool, StoreError> {
        let page = Page {
            after: position,
            limit: 1,
        };
        Ok(!self.settings.store.outbox(page).await?.is_empty())
    }
}
