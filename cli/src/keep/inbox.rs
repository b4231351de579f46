//! The way to the nodes of a run, which is there only once the run is.

use std::sync::{Arc, Mutex, PoisonError};

use agents::run::RunInbox;
use async_trait::async_trait;
use interrupts::life::Interrupt;
use interrupts::manager::{Deliveries, Undeliverable};
use interrupts::store::StoredMessage;

/// Hands what comes for a run's nodes to the run, while it is executed.
#[derive(Default)]
pub(crate) struct LateInbox {
    inbox: Mutex<Option<Arc<RunInbox>>>,
}

impl LateInbox {
    /// From now on the run takes what comes.
    pub(crate) fn open(&self, inbox: RunInbox) {
        *self.lock() = Some(Arc::new(inbox));
    }

    /// The run takes nothing any more.
    pub(crate) fn close(&self) {
        *self.lock() = None;
    }

    fn get(&self) -> Option<Arc<RunInbox>> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<RunInbox>>> {
        // A whole value is put in its place, so a panic elsewhere leaves it whole.
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Deliveries for LateInbox {
    async fn question(&self, interrupt: &Interrupt) -> Result<(), Undeliverable> {
        let Some(inbox) = self.get() else {
            return Err(Undeliverable::NotNow {
                reason: "the run does not work yet".to_owned(),
            });
        };
        inbox
            .question(interrupt)
            .await
            .map_err(|_ended| Undeliverable::NodeEnded)
    }

    async fn message(&self, message: &StoredMessage) {
        // A run that does not work yet reads its messages from the store when it does.
        if let Some(inbox) = self.get()
            && inbox.message(message).await.is_err()
        {
            tracing::info!(
                position = message.position,
                "a message came for an agent that takes none any more"
            );
        }
    }
}
