//! The way to the nodes of a run, which is there only once the run is.

use std::sync::{Arc, Mutex, PoisonError};

use agents::run::Workflow;
use async_trait::async_trait;
use engine::run::RunInbox;
use interrupts::life::Interrupt;
use interrupts::manager::{Deliveries, Undeliverable};
use interrupts::store::StoredMessage;
use routing_core::NodeId;

/// Hands what comes for a run's nodes to the run, while it is executed.
pub(crate) struct LateInbox {
    door: Mutex<Door>,
}

#[derive(Clone)]
enum Door {
    /// The run does not work yet. When it begins to, it reads from the store what has been delivered by then.
    NotYet,
    Open(Arc<RunInbox>),
    Closed,
    /// A plan reads its messages from the store before each step, and its agents can be asked nothing.
    OfPlan,
}

impl LateInbox {
    /// The inbox of a run of this workflow.
    pub(crate) fn of(workflow: Workflow) -> Self {
        let door = match workflow {
            Workflow::Agents => Door::NotYet,
            Workflow::PlanExecute => Door::OfPlan,
        };
        Self {
            door: Mutex::new(door),
        }
    }

    /// From now on the run takes what comes.
    pub(crate) fn open(&self, inbox: RunInbox) {
        *self.lock() = Door::Open(Arc::new(inbox));
    }

    /// The run takes nothing any more.
    pub(crate) fn close(&self) {
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
            // Whoever asked is told that nobody will answer.
            Door::OfPlan => Err(Undeliverable::NodeEnded),
            Door::Closed => Err(Undeliverable::NotNow {
                reason: "the run does not work any more".to_owned(),
            }),
        }
    }

    fn has_ended(&self, node: &NodeId) -> bool {
        match self.door() {
            Door::Open(inbox) => inbox.has_ended(node),
            // The agents of a plan stand until it is over; of a run that does not work, its end says what becomes of
            // their stops.
            Door::NotYet | Door::OfPlan | Door::Closed => false,
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
