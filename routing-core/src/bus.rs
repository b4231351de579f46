//! The event bus: a port, and the bus within one process.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::agent_type::AgentType;
use crate::event::InterruptRequestEvent;
use crate::ids::EventId;
use crate::reroute::RerouteState;

mod admission;

pub use admission::{
    Admission, AgentDirectory, Mailbox, NodeEnded, NodeStatus, PublishRefusal, RerouteAdmission,
};

/// What subscribers of the bus receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BusEvent<K: AgentType> {
    /// An event was accepted: stored, and its agent told. Announced again if it is published again.
    InterruptRequested(InterruptRequestEvent<K>),
    /// What became of an accepted event.
    RerouteChanged {
        /// The event.
        event: EventId,
        /// Its state now.
        state: RerouteState,
    },
}

/// What a subscriber receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery<K: AgentType> {
    /// The next event.
    Event(Arc<BusEvent<K>>),
    /// The subscriber was too slow, and this many events are gone for it.
    Missed(u64),
    /// The bus is gone; nothing more will come.
    Closed,
}

/// Where supervisors publish. The bus only rings the bell: what it carries is already stored.
#[async_trait]
pub trait EventBus<K: AgentType>: Send + Sync {
    /// Publishes an event, once it has been admitted.
    ///
    /// # Errors
    ///
    /// [`PublishRefusal`] says why the event was not accepted. Nothing was stored or sent then.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the event may have been accepted or not. Publish it again: the same event is accepted once.
    async fn publish(&self, event: InterruptRequestEvent<K>) -> Result<(), PublishRefusal>;

    /// Tells subscribers what became of an event.
    fn announce(&self, event: BusEvent<K>);

    /// Subscribes to everything from now on.
    fn subscribe(&self) -> Box<dyn Subscription<K>>;
}

/// One subscriber's place in the stream of events.
#[async_trait]
pub trait Subscription<K: AgentType>: Send {
    /// Waits for the next delivery.
    ///
    /// # Cancel safety
    ///
    /// Safe: a delivery is handed out or stays queued.
    async fn next(&mut self) -> Delivery<K>;
}

/// The bus within one process. A slow subscriber never blocks a publisher, and learns how much it missed.
pub struct InProcessBus<K: AgentType> {
    sender: broadcast::Sender<Arc<BusEvent<K>>>,
    admission: Arc<dyn Admission<K>>,
}

/// How many events a subscriber may lag behind before it misses some, by default.
pub const DEFAULT_BACKLOG: usize = 1024;

impl<K: AgentType> InProcessBus<K> {
    /// A bus that lets `admission` decide on every event. A subscriber may lag `backlog` events behind.
    pub fn new(admission: Arc<dyn Admission<K>>, backlog: usize) -> Self {
        let (sender, _receiver) = broadcast::channel(backlog.max(1));
        Self { sender, admission }
    }
}

#[async_trait]
impl<K: AgentType> EventBus<K> for InProcessBus<K> {
    async fn publish(&self, event: InterruptRequestEvent<K>) -> Result<(), PublishRefusal> {
        for change in self.admission.admit(&event).await? {
            self.announce(change);
        }
        self.announce(BusEvent::InterruptRequested(event));
        Ok(())
    }

    fn announce(&self, event: BusEvent<K>) {
        // No listeners is fine: the bus only rings the bell.
        let _listeners = self.sender.send(Arc::new(event));
    }

    fn subscribe(&self) -> Box<dyn Subscription<K>> {
        Box::new(InProcessSubscription {
            receiver: self.sender.subscribe(),
        })
    }
}

struct InProcessSubscription<K: AgentType> {
    receiver: broadcast::Receiver<Arc<BusEvent<K>>>,
}

#[async_trait]
impl<K: AgentType> Subscription<K> for InProcessSubscription<K> {
    async fn next(&mut self) -> Delivery<K> {
        match self.receiver.recv().await {
            Ok(event) => Delivery::Event(event),
            Err(RecvError::Lagged(count)) => Delivery::Missed(count),
            Err(RecvError::Closed) => Delivery::Closed,
        }
    }
}
