//! Who decides whether an event is accepted, and what accepting it means.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::BusEvent;
use crate::agent_type::AgentType;
use crate::clock::Clock;
use crate::event::InterruptRequestEvent;
use crate::ids::{EventId, NodeId, RunId};
use crate::model::Message;
use crate::reroute::{PendingReroutes, RerouteState, StoreError, Stored};

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
    /// The target is no route of this orchestrator.
    #[error("rerouteToAgentType: `{target}` is no route here; routes are: {}", routes.join(", "))]
    NoRoute {
        /// The target that was named.
        target: &'static str,
        /// What could be named.
        routes: Vec<&'static str>,
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

impl From<StoreError> for PublishRefusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::OtherContent { event } => Self::OtherContent { event },
            StoreError::Unavailable { detail } => Self::Store { detail },
        }
    }
}

/// What a directory knows of a node.
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

/// Knows the nodes and what they do.
///
/// An event names a node and no run, so a node's id must be unique among all runs that share a
/// directory.
pub trait AgentDirectory<K: AgentType>: Send + Sync {
    /// What the node is and does; `None` if there is no such node.
    fn find(&self, node: &NodeId) -> Option<NodeStatus<K>>;

    /// The routes that events may name. All of them unless an orchestrator has fewer.
    fn routes(&self) -> &'static [K::Route] {
        <K::Route as AgentType>::ALL
    }
}

/// The node ended before the message reached it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the node has ended")]
pub struct NodeEnded;

/// Takes messages to running agents; they read them at the start of their next turn.
#[async_trait]
pub trait Mailbox: Send + Sync {
    /// Puts a message into the node's box.
    ///
    /// # Errors
    ///
    /// [`NodeEnded`] if the node will not read it.
    ///
    /// # Cancel safety
    ///
    /// Safe: the message is delivered whole or not at all.
    async fn send(&self, run: RunId, node: &NodeId, message: Message) -> Result<(), NodeEnded>;
}

/// Admits reroute events: checks them, stores them, and only then tells the agent.
pub struct RerouteAdmission<K: AgentType> {
    directory: Arc<dyn AgentDirectory<K>>,
    reroutes: Arc<dyn PendingReroutes<K>>,
    mailbox: Arc<dyn Mailbox>,
    clock: Arc<dyn Clock>,
    /// Events whose agents have not been told, or could not be: publishing one again tries again.
    untold: Mutex<HashSet<EventId>>,
}

impl<K: AgentType> RerouteAdmission<K> {
    /// A desk over these ports.
    pub fn new(
        directory: Arc<dyn AgentDirectory<K>>,
        reroutes: Arc<dyn PendingReroutes<K>>,
        mailbox: Arc<dyn Mailbox>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            directory,
            reroutes,
            mailbox,
            clock,
            untold: Mutex::default(),
        }
    }

    fn check(&self, event: &InterruptRequestEvent<K>) -> Result<RunId, PublishRefusal> {
        let node = &event.node_id;
        let Some(found) = self.directory.find(node) else {
            return Err(PublishRefusal::UnknownNode { node: node.clone() });
        };
        if !found.running {
            return Err(PublishRefusal::NotRunning {
                node: node.clone(),
                status: found.status,
            });
        }
        if found.kind != event.source_agent_type {
            let (claimed, actual) = (event.source_agent_type.name(), found.kind.name());
            return Err(PublishRefusal::OtherSource {
                node: node.clone(),
                claimed,
                actual,
            });
        }
        let routes = self.directory.routes();
        if !routes.contains(&event.target()) {
            let routes = routes.iter().map(|route| route.name()).collect();
            return Err(PublishRefusal::NoRoute {
                target: event.target().name(),
                routes,
            });
        }
        Ok(found.run)
    }

    /// Stores the event. Returns the older one that it replaces.
    async fn store(
        &self,
        run: RunId,
        event: &InterruptRequestEvent<K>,
    ) -> Result<Option<EventId>, PublishRefusal> {
        // Noted first: even if this is cut off, it is known that the event is stored and its agent was not told.
        self.untold().insert(event.event_id.clone());
        let now = self.clock.now();
        match self.reroutes.store(run, event.clone(), now).await {
            Ok(Stored::Pending { superseded }) => Ok(superseded),
            // Another caller publishes the same event at the same time; its agent is told twice then.
            Ok(Stored::AlreadyThere) => Ok(None),
            Err(error) => {
                self.untold().remove(&event.event_id);
                Err(error.into())
            }
        }
    }

    /// Tells the agent of a stored event.
    async fn tell(
        &self,
        run: RunId,
        event: &InterruptRequestEvent<K>,
    ) -> Result<(), PublishRefusal> {
        let (id, node) = (&event.event_id, &event.node_id);
        if self.mailbox.send(run, node, event.message()).await == Err(NodeEnded) {
            self.reroutes.node_ended(run, node).await?;
            let state = self.reroutes.fate(id).await?.map(|stored| stored.state);
            // An interrupt that the node raised before it ended may have taken the event already: then it was accepted,
            // and what follows from it is kept.
            let is_taken = matches!(
                state,
                Some(RerouteState::Bound { .. } | RerouteState::Consumed { .. })
            );
            if !is_taken {
                return Err(PublishRefusal::NotRunning {
                    node: node.clone(),
                    status: "ended",
                });
            }
        }
        self.untold().remove(id);
        Ok(())
    }

    fn untold(&self) -> MutexGuard<'_, HashSet<EventId>> {
        // A set of ids is whole after every change, so a panic elsewhere leaves it whole.
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<K: AgentType> Admission<K> for RerouteAdmission<K> {
    async fn admit(
        &self,
        event: &InterruptRequestEvent<K>,
    ) -> Result<Vec<BusEvent<K>>, PublishRefusal> {
        if let Some(stored) = self.reroutes.fate(&event.event_id).await? {
            if stored.event != *event {
                return Err(PublishRefusal::OtherContent {
                    event: event.event_id.clone(),
                });
            }
            // The same event again, perhaps after its node ended: the stored answer is kept. If its agent was not told,
            // it was not accepted yet.
            if self.untold().contains(&event.event_id) {
                self.tell(stored.run, event).await?;
            }
            return Ok(Vec::new());
        }
        let run = self.check(event)?;
        // Stored first: an agent that answers at once finds the reroute.
        let superseded = self.store(run, event).await?;
        self.tell(run, event).await?;
        Ok(superseded
            .into_iter()
            .map(|old| BusEvent::RerouteChanged {
                event: old,
                state: RerouteState::Superseded {
                    by: event.event_id.clone(),
                },
            })
            .collect())
    }
}
