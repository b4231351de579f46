//! Delivers to the nodes of a run, which exist only once the run does.

use std::sync::{Arc, Mutex, PoisonError};

use crate::run::RunInbox;
use async_trait::async_trait;
use interrupt_router::NodeId;
use interrupts::life::Interrupt;
use interrupts::manager::{Deliveries, Undeliverable};
use interrupts::store::StoredMessage;

/// Passes deliveries for a run's nodes to the run while it is executed.
pub struct LateInbox {
    door: Mutex<Door>,
}

#[derive(Clone)]
enum Door {
    /// The run does not work yet. When it begins to, it reads from the store what has been delivered by then.
    NotYet,
    Open(Arc<RunInbox>),
    Closed,
    /// The run reads its messages from the store by itself, and its agents can be asked nothing.
    Unused,
}

impl LateInbox {
    /// The inbox of a run that does not work yet.
    pub const fn closed_yet() -> Self {
        Self {
            door: Mutex::new(Door::NotYet),
        }
    }

    /// The inbox of a run that reads its messages from the store by itself, and whose agents can be asked nothing.
    pub const fn unused() -> Self {
        Self {
            door: Mutex::new(Door::Unused),
        }
    }

    /// From now on the run takes what comes.
    pub fn open(&self, inbox: RunInbox) {
        *self.lock() = Door::Open(Arc::new(inbox));
    }

    /// The run takes nothing any more.
    pub fn close(&self) {
        *self.lock() = Door::Closed;
    }

    fn door(&self) -> Door {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Door> {
        // A whole value is put in its place, so a panic elsewhere leaves it whole.
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Deliveries for LateInbox {
    async fn question(&self, interrupt: &Interrupt) -> Result<(), Undeliverable> {
        match self.door() {
            Door::NotYet => Ok(()),
            Door::Open(inbox) => inbox
                .question(interrupt)
                .await
                .map_err(|_ended| Undeliverable::NodeEnded),
            // The sender learns that no one will answer.
            Door::Unused => Err(Undeliverable::NodeEnded),
            Door::Closed => Err(Undeliverable::NotNow {
                reason: "the run does not work any more".to_owned(),
            }),
        }
    }

    fn has_ended(&self, node: &NodeId) -> bool {
        match self.door() {
            Door::Open(inbox) => inbox.has_ended(node),
            // The agents of such a run exist until it is over; if a run is not being worked on, its end settles their
            // stops.
            Door::NotYet | Door::Unused | Door::Closed => false,
        }
    }

    async fn message(&self, message: &StoredMessage) {
        if let Door::Open(inbox) = self.door()
            && inbox.message(message).await.is_err()
        {
            tracing::info!(
                position = message.position,
                "a message came for an agent that takes none any more"
            );
        }
    }
}
