//! What comes from outside for a run's nodes, through the store.

use std::sync::Arc;

use async_trait::async_trait;
use interrupts::life::Interrupt;
use interrupts::manager::{Deliveries, Undeliverable};
use interrupts::store::StoredMessage;
use routing_core::NodeId;
use routing_core::bus::NodeEnded;

use super::event::RunEvent;
use super::live::LiveRun;
use crate::durable::unread::{event_letter, event_of, message_letter};

/// The way of what comes from outside to the nodes of a run that is executed. Whoever keeps the run for its
/// process takes it from the store and puts it in here.
#[derive(Clone)]
pub struct RunInbox {
    engine: Arc<LiveRun>,
}

impl RunInbox {
    /// The way to the nodes of a run.
    pub fn of(run: Arc<LiveRun>) -> Self {
        Self { engine: run }
    }

    /// Tells a node of a supervisor's event that was delivered to this process. The same one may be told again.
    ///
    /// # Errors
    ///
    /// [`NodeEnded`] where nobody will read it, or where the interrupt is no event's.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat. It waits until a run that is resumed is where it stood.
    pub async fn question(&self, interrupt: &Interrupt) -> Result<(), NodeEnded> {
        let engine = &self.engine;
        engine.journal.until_live().await;
        let event = event_of(interrupt).ok_or(NodeEnded)?;
        engine.journal.record.event_came();
        let _held = engine.reroute_log.hold().await;
        let is_new = engine.nodes.put(&interrupt.node, event_letter(&event))?;
        if is_new {
            engine.recorder.record(RunEvent::EventPublished { event });
        }
        Ok(())
    }

    /// Whether a node has ended, so that a stop of it takes hold no more.
    pub fn has_ended(&self, node: &NodeId) -> bool {
        self.engine.nodes.has_ended(node)
    }

    /// Gives a node a message that the store has accepted. The same one may be given again.
    ///
    /// # Errors
    ///
    /// [`NodeEnded`] where nobody will read it.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat. It waits until a run that is resumed is where it stood.
    pub async fn message(&self, message: &StoredMessage) -> Result<(), NodeEnded> {
        let engine = &self.engine;
        engine.journal.until_live().await;
        let letter = message_letter(message.position, &message.message.text);
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
