//! Notices when a client goes away before it has the whole answer.

use std::sync::Arc;

use tokio::sync::watch;

/// How often clients hung up on a double.
#[derive(Debug, Clone)]
pub struct HangUps {
    count: Arc<watch::Sender<usize>>,
}

impl HangUps {
    pub(super) fn new() -> Self {
        Self {
            count: Arc::new(watch::Sender::new(0)),
        }
    }

    /// How often so far.
    pub fn count(&self) -> usize {
        *self.count.borrow()
    }

    /// Waits until clients have hung up so often in all.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost, for the count stays.
    pub async fn reached(&self, count: usize) {
        let mut changes = self.count.subscribe();
        // The sender lives in `self`, so the wait cannot end otherwise.
        let _reached = changes.wait_for(|now| *now >= count).await;
    }

    /// Counts a hang-up when it is dropped, unless it was disarmed.
    pub(super) fn guard(&self) -> HangUpGuard {
        HangUpGuard {
            hang_ups: self.clone(),
            armed: true,
        }
    }
}

#[derive(Debug)]
pub(super) struct HangUpGuard {
    hang_ups: HangUps,
    armed: bool,
}

impl HangUpGuard {
    /// The answer is over: what follows is no hang-up.
    pub(super) fn disarm(&mut self) {
        self.armed = false;
    }
}

impl Drop for HangUpGuard {
    fn drop(&mut self) {
        if self.armed {
            self.hang_ups.count.send_modify(|count| *count += 1);
        }
    }
}
