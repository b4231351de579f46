//! What comes from outside for a run's nodes, through the store.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::NodeId;
use interrupts::life::Interrupt;
use interrupts::manager::{Deliveries, Undeliverable};
use interrupts::store::StoredMessage;

use super::event::RunEvent;
use super::live::LiveRun;
use super::nodes::NodeEnded;
use crate::durable::undelivered::{agent_message, event_message, event_of};

/// Delivers to the nodes of a run while it is executed. The owner of the run in this process takes deliveries from the
/// store and puts them in here.
#[derive(Clone)]
pub struct RunInbox {
    engine: Arc<LiveRun>,
}

impl RunInbox {
    /// The inbox for the nodes of a run.
    pub fn of(run: Arc<LiveRun>) -> Self {
        Self { engine: run }
    }

    /// Notifies a node of a supervisor's event that was delivered to this process. Repeating an event is allowed.
    ///
    /// # Errors
    ///
    /// [`NodeEnded`] if no one will read it, or if the interrupt is not an event's.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat. It waits until a resumed run has caught up.
    pub async fn question(&self, interrupt: &Interrupt) -> Result<(), NodeEnded> {
        let engine = &self.engine;
        engine.journal.until_live().await;
        let event = event_of(interrupt).ok_or(NodeEnded)?;
        engine.journal.record.event_came();
        let _held = engine.reroute_log.hold().await;
        let is_new = engine.nodes.put(&interrupt.node, event_message(&event))?;
        if is_new {
            engine.recorder.record(RunEvent::EventPublished { event });
        }
        Ok(())
    }

    /// Whether a node has ended, so that a stop of it has no effect any more.
    pub fn has_ended(&self, node: &NodeId) -> bool {
        self.engine.nodes.has_ended(node)
    }

    /// Gives a node a message that the store has accepted. The same one may be given again.
    ///
    /// # Errors
    ///
    /// [`NodeEnded`] if no one will read it.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat. It waits until a resumed run has caught up.
    pub async fn message(&self, message: &StoredMessage) -> Result<(), NodeEnded> {
        let engine = &self.engine;
        engine.journal.until_live().await;
        let letter = agent_message(message.position, &message.message.text);
        engine.nodes.put(&message.message.node, letter)?;
        Ok(())
    }
}

#[async_trait]
impl Deliveries for RunInbox {
    async fn question(&self, interrupt: &Interrupt) -> Result<(), Undeliverable> {
        let told = Self::question(self, interrupt).await;
        told.map_err(|NodeEnded| Undeliverable::NodeEnded)
    }

    fn has_ended(&self, node: &NodeId) -> bool {
        Self::has_ended(self, node)
    }

    async fn message(&self, message: &StoredMessage) {
        if Self::message(self, message).await.is_err() {
            tracing::info!(node = %message.message.node, "the node of a message has ended");
        }
    }
}
