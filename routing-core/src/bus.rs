//! The event bus of one process, and the port that decides what it carries.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::agent_type::AgentType;
use crate::event::InterruptRequestEvent;
use crate::ids::{EventId, NodeId, RunId};
use crate::reroute::RerouteState;

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

/// Decides whether an event is accepted, and accepts it.
#[async_trait]
pub trait Admission<K: AgentType>: Send + Sync {
    /// Accepts the event: stores it, then tells its agent. Returns what became of other events by it.
    ///
    /// # Errors
    ///
    /// [`PublishRefusal`] says why it was not accepted.
    ///
    /// # Cancel safety
    ///
    /// If dropped after the event was stored, the agent may not have been told; admit the same event again, which tells
    /// it. The agent may then be told twice, as when two callers admit the same event at the same time.
    async fn admit(
        &self,
        event: &InterruptRequestEvent<K>,
    ) -> Result<Vec<BusEvent<K>>, PublishRefusal>;
}

/// Why an event was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishRefusal {
    /// There is no such node.
    #[error(
        "nodeId: there is no node `{node}`; list the nodes of the run and choose one that is running"
    )]
    UnknownNode {
        /// The node that was named.
        node: NodeId,
    },
    /// The node is there and does not run.
    #[error("nodeId: `{node}` is not running but {status}; only a running node can be interrupted")]
    NotRunning {
        /// The node that was named.
        node: NodeId,
        /// What it does instead.
        status: &'static str,
    },
    /// The node is of another type.
    #[error("sourceAgentType: `{node}` is a {actual}, not a {claimed}")]
    OtherSource {
        /// The node that was named.
        node: NodeId,
        /// What the event says it is.
        claimed: &'static str,
        /// What it is.
        actual: &'static str,
    },
    /// The same id was used for another event.
    #[error("eventId: `{event}` was used for an event with other content; give a new one")]
    OtherContent {
        /// The id.
        event: EventId,
    },
    /// The store is broken. Nothing was accepted.
    #[error("the event could not be stored: {detail}")]
    Store {
        /// What is broken.
        detail: String,
    },
}

/// What is known of a node that an event names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatus<K: AgentType> {
    /// The node's run.
    pub run: RunId,
    /// The node's kind.
    pub kind: K,
    /// Whether it can be interrupted.
    pub running: bool,
    /// What it does, in one word.
    pub status: &'static str,
}

impl<K: AgentType> NodeStatus<K> {
    /// The node, if the event may be published to it.
    ///
    /// # Errors
    ///
    /// [`PublishRefusal`]: there is none, it does not run, or it is of another kind.
    pub fn check(
        found: Option<Self>,
        event: &InterruptRequestEvent<K>,
    ) -> Result<Self, PublishRefusal> {
        let node = event.node_id.clone();
        match found {
            None => Err(PublishRefusal::UnknownNode { node }),
            Some(found) if !found.running => Err(PublishRefusal::NotRunning {
                node,
                status: found.status,
            }),
            Some(found) if found.kind != event.source_agent_type => {
                Err(PublishRefusal::OtherSource {
                    node,
                    claimed: event.source_agent_type.name(),
                    actual: found.kind.name(),
                })
            }
            Some(found) => Ok(found),
        }
    }
}

/// Where supervisors publish. Publishing is a wake-up: the event has been stored before. A slow subscriber never blocks
/// a publisher, and learns how much it missed.
pub struct EventBus<K: AgentType> {
    sender: broadcast::Sender<Arc<BusEvent<K>>>,
    admission: Arc<dyn Admission<K>>,
}

/// How many events a subscriber may lag behind before it misses some, by default.
pub const DEFAULT_BACKLOG: usize = 1024;

impl<K: AgentType> EventBus<K> {
    /// A bus that lets `admission` decide on every event. A subscriber may lag `backlog` events behind.
    pub fn new(admission: Arc<dyn Admission<K>>, backlog: usize) -> Self {
        let (sender, _receiver) = broadcast::channel(backlog.max(1));
        Self { sender, admission }
    }

    /// Publishes an event, once it has been admitted.
    ///
    /// # Errors
    ///
    /// [`PublishRefusal`] says why the event was not accepted. Nothing was stored or sent then.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the event may have been accepted or not. Publish it again: the same event is accepted once.
    pub async fn publish(&self, event: InterruptRequestEvent<K>) -> Result<(), PublishRefusal> {
        for change in self.admission.admit(&event).await? {
            self.announce(change);
        }
        self.announce(BusEvent::InterruptRequested(event));
        Ok(())
    }

    /// Tells subscribers what became of an event.
    pub fn announce(&self, event: BusEvent<K>) {
        // Having no subscribers is fine.
        let _listeners = self.sender.send(Arc::new(event));
    }

    /// Subscribes to everything from now on.
    pub fn subscribe(&self) -> Subscription<K> {
        Subscription {
            receiver: self.sender.subscribe(),
        }
    }
}

/// One subscriber's place in the stream of events.
#[derive(Debug)]
pub struct Subscription<K: AgentType> {
    receiver: broadcast::Receiver<Arc<BusEvent<K>>>,
}

impl<K: AgentType> Subscription<K> {
    /// Waits for the next delivery.
    ///
    /// # Cancel safety
    ///
    /// Safe: a delivery is handed out or stays queued.
    pub async fn next(&mut self) -> Delivery<K> {
        match self.receiver.recv().await {
            Ok(event) => Delivery::Event(event),
            Err(RecvError::Lagged(count)) => Delivery::Missed(count),
            Err(RecvError::Closed) => Delivery::Closed,
        }
    }
}
