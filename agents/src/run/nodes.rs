//! The nodes of a run as others see them: who is there, what each does, and its box for messages.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use routing_core::bus::{AgentDirectory, Mailbox, NodeEnded, NodeStatus};
use routing_core::model::Message;
use routing_core::{NodeId, RunId};

use super::event::NodeState;
use crate::agent_kind::AgentKind;

/// A node as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    /// Its id.
    pub node: NodeId,
    /// The node above it.
    pub parent: Option<NodeId>,
    /// Its kind.
    pub kind: AgentKind,
    /// What it does.
    pub state: NodeState,
    /// Whether an event can be published for it: it has a turn, or will have one.
    pub takes_messages: bool,
}

/// The nodes of a run: the live directory, and their boxes for messages.
///
/// A node's box is open from the moment it gets its request until it hands its work over. What is put
/// into an open box is read at the start of the node's next turn, and a node whose box is not empty
/// takes another turn before it hands over: no message that was taken is left unread by it.
#[derive(Debug)]
pub struct NodeDirectory {
    run: RunId,
    nodes: Mutex<Nodes>,
}

#[derive(Debug, Default)]
struct Nodes {
    order: Vec<NodeId>,
    entries: HashMap<NodeId, Entry>,
}

#[derive(Debug)]
struct Entry {
    kind: AgentKind,
    state: NodeState,
    letters: Letters,
}

#[derive(Debug)]
enum Letters {
    Open(Vec<Message>),
    Closed,
}

impl NodeDirectory {
    pub(crate) fn new(run: RunId) -> Self {
        Self {
            run,
            nodes: Mutex::default(),
        }
    }

    /// All nodes, those that have ended too, in the order in which they came to be.
    pub fn all(&self) -> Vec<NodeView> {
        let nodes = self.lock();
        let view = |id: &NodeId| {
            nodes.entries.get(id).map(|entry| NodeView {
                node: id.clone(),
                parent: id.parent(),
                kind: entry.kind,
                state: entry.state,
                takes_messages: matches!(entry.letters, Letters::Open(_)),
            })
        };
        nodes.order.iter().filter_map(view).collect()
    }

    /// Adds a node; whether it is new.
    pub(crate) fn add(&self, id: &NodeId, kind: AgentKind) -> bool {
        let mut nodes = self.lock();
        if nodes.entries.contains_key(id) {
            return false;
        }
        nodes.order.push(id.clone());
        let entry = Entry {
            kind,
            state: NodeState::Pending,
            letters: Letters::Closed,
        };
        nodes.entries.insert(id.clone(), entry);
        true
    }

    /// Whether there is, or was, a node of this id.
    pub(crate) fn knows(&self, id: &NodeId) -> bool {
        self.lock().entries.contains_key(id)
    }

    /// Changes what a node does; whether it did something else before.
    pub(crate) fn set_state(&self, id: &NodeId, state: NodeState) -> bool {
        let mut nodes = self.lock();
        match nodes.entries.get_mut(id) {
            Some(entry) if entry.state != state => {
                entry.state = state;
                true
            }
            Some(_) | None => false,
        }
    }

    /// Opens a node's box, where it is closed.
    pub(crate) fn open(&self, id: &NodeId) {
        if let Some(entry) = self.lock().entries.get_mut(id)
            && matches!(entry.letters, Letters::Closed)
        {
            entry.letters = Letters::Open(Vec::new());
        }
    }

    /// What is in a node's box, taken out of it.
    pub(crate) fn take_letters(&self, id: &NodeId) -> Vec<Message> {
        match self.lock().entries.get_mut(id).map(|it| &mut it.letters) {
            Some(Letters::Open(letters)) => std::mem::take(letters),
            Some(Letters::Closed) | None => Vec::new(),
        }
    }

    /// Closes a node's box, unless there is something in it; whether it is closed now.
    ///
    /// One step, so that nothing is put in between the look and the closing.
    pub(crate) fn close_if_empty(&self, id: &NodeId) -> bool {
        match self.lock().entries.get_mut(id).map(|it| &mut it.letters) {
            Some(Letters::Open(letters)) if !letters.is_empty() => false,
            Some(letters) => {
                *letters = Letters::Closed;
                true
            }
            None => true,
        }
    }

    /// Closes a node's box, whatever is in it.
    pub(crate) fn close(&self, id: &NodeId) {
        if let Some(entry) = self.lock().entries.get_mut(id) {
            entry.letters = Letters::Closed;
        }
    }

    /// Ends a node, whatever is in its box; whether it had not ended before.
    pub(crate) fn end(&self, id: &NodeId, state: NodeState) -> bool {
        let mut nodes = self.lock();
        let Some(entry) = nodes.entries.get_mut(id) else {
            return false;
        };
        entry.letters = Letters::Closed;
        let ended = has_ended(entry.state);
        if !ended {
            entry.state = state;
        }
        !ended
    }

    fn lock(&self) -> MutexGuard<'_, Nodes> {
        // Each change is whole before the lock is let go, so a panic elsewhere leaves the table whole.
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a node that does this is at its end.
pub(crate) fn has_ended(state: NodeState) -> bool {
    match state {
        NodeState::Completed | NodeState::Failed | NodeState::Canceled | NodeState::Pruned => true,
        NodeState::Pending
        | NodeState::Ready
        | NodeState::Running
        | NodeState::WaitingReview
        | NodeState::WaitingInput => false,
    }
}

/// What a node does, in words, for whoever tried to reach it.
fn words(state: NodeState) -> &'static str {
    match state {
        NodeState::Pending => "pending",
        NodeState::Ready => "ready",
        // Only asked where the box is closed: the nodes below it have the work.
        NodeState::Running => "waiting for the nodes below it",
        NodeState::WaitingReview => "waiting for a review",
        NodeState::WaitingInput => "paused",
        NodeState::Completed => "completed",
        NodeState::Failed => "failed",
        NodeState::Canceled => "canceled",
        NodeState::Pruned => "pruned",
    }
}

impl AgentDirectory<AgentKind> for NodeDirectory {
    fn find(&self, node: &NodeId) -> Option<NodeStatus<AgentKind>> {
        self.lock().entries.get(node).map(|entry| {
            let running = matches!(entry.letters, Letters::Open(_));
            NodeStatus {
                run: self.run,
                kind: entry.kind,
                running,
                status: if running {
                    "running"
                } else {
                    words(entry.state)
                },
            }
        })
    }
}

#[async_trait]
impl Mailbox for NodeDirectory {
    async fn send(&self, run: RunId, node: &NodeId, message: Message) -> Result<(), NodeEnded> {
        if run != self.run {
            return Err(NodeEnded);
        }
        match self.lock().entries.get_mut(node).map(|it| &mut it.letters) {
            Some(Letters::Open(letters)) => {
                letters.push(message);
                Ok(())
            }
            Some(Letters::Closed) | None => Err(NodeEnded),
        }
    }
}

#[cfg(test)]
mod tests {
    use routing_core::bus::{AgentDirectory, Mailbox, NodeEnded};
    use routing_core::model::Message;
    use routing_core::{NodeId, RunId};

    use super::{AgentKind, NodeDirectory, NodeState};

    #[tokio::test]
    async fn a_box_is_not_closed_while_something_is_in_it() {
        let run = RunId::generate();
        let nodes = NodeDirectory::new(run);
        let node = NodeId::new("orchestrator").unwrap();
        nodes.add(&node, AgentKind::Orchestrator);
        let send = || nodes.send(run, &node, Message::user("hello"));
        assert_eq!(send().await, Err(NodeEnded), "it has no request yet");
        nodes.open(&node);
        assert_eq!(send().await, Ok(()));
        assert!(!nodes.close_if_empty(&node));
        assert_eq!(nodes.take_letters(&node).len(), 1);
        assert!(nodes.close_if_empty(&node));
        assert_eq!(send().await, Err(NodeEnded));
        assert!(!nodes.find(&node).unwrap().running);
    }

    #[test]
    fn a_node_ends_once() {
        let nodes = NodeDirectory::new(RunId::generate());
        let node = NodeId::new("orchestrator").unwrap();
        nodes.add(&node, AgentKind::Orchestrator);
        assert!(nodes.end(&node, NodeState::Pruned));
        assert!(!nodes.end(&node, NodeState::Completed));
        assert_eq!(nodes.find(&node).unwrap().status, "pruned");
    }
}
