//! The nodes of a run as others see them: which there are, what each does, and its mailbox for messages.

mod mailbox;

pub use mailbox::NodeEnded;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use interrupt_router::bus::NodeStatus;
use interrupt_router::{AgentType, NodeId, RunId};
use interrupts::store::{CallWait, NodeActivity, NodeRow};
use interrupts::{KindName, NameError};
use jiff::Timestamp;

use journal::message::{AgentMessage, Origin};

/// The current state of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeView {
    /// Its id.
    pub node: NodeId,
    /// The node above it.
    pub parent: Option<NodeId>,
    /// The name of its kind.
    pub kind: &'static str,
    /// What it does.
    pub state: NodeActivity,
    /// Whether an event can be published for it: it has a turn, or will have one.
    pub takes_messages: bool,
}

/// The nodes of a run: the live directory, and their mailboxes for messages.
///
/// A node's mailbox is open from the moment it gets its request until it hands its work over. What is put
/// into an open mailbox is read at the start of the node's next turn, and a node whose mailbox is not empty
/// takes another turn before it hands over: no message that was taken is left unread by it.
#[derive(Debug)]
pub struct NodeDirectory {
    run: RunId,
    nodes: Mutex<Nodes>,
}

#[derive(Debug, Default)]
struct Nodes {
    order: Vec<NodeId>,
    entries: HashMap<NodeId, NodeEntry>,
    /// The messages that were put into mailboxes, or read before this process had the run.
    seen: HashSet<Origin>,
    /// What came for nodes before this process had the run, kept until they have caught up.
    waiting: HashMap<NodeId, Vec<AgentMessage>>,
    /// The places of the nodes that have changed since they were last written to the store.
    changed: BTreeSet<usize>,
    /// How many nodes share a place in the tree, by the id of the first of them.
    numbers: HashMap<NodeId, u32>,
    /// The row that was last written to the store for each node, by any process.
    told: HashMap<NodeId, NodeRow>,
}

#[derive(Debug)]
struct NodeEntry {
    kind: &'static str,
    state: NodeActivity,
    letters: Mailbox,
    place: usize,
    turn: u32,
    step: u32,
}

#[derive(Debug)]
enum Mailbox {
    Open(Vec<AgentMessage>),
    Closed,
}

impl NodeDirectory {
    pub fn new(run: RunId) -> Self {
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
                takes_messages: matches!(entry.letters, Mailbox::Open(_)),
            })
        };
        nodes.order.iter().filter_map(view).collect()
    }

    /// Adds a node; whether it is new.
    pub fn add(&self, id: &NodeId, kind: &'static str) -> bool {
        let mut nodes = self.lock();
        if nodes.entries.contains_key(id) {
            return false;
        }
        let place = nodes.order.len();
        nodes.order.push(id.clone());
        nodes.changed.insert(place);
        let entry = NodeEntry {
            kind,
            state: NodeActivity::Pending,
            letters: Mailbox::Closed,
            place,
            turn: 0,
            step: 0,
        };
        nodes.entries.insert(id.clone(), entry);
        true
    }

    /// Adds a node with its last turn and step, if the store knew it before this process had the run.
    pub fn add_told(&self, id: &NodeId, kind: &'static str) {
        let told = self.lock().told.get(id).map(|row| (row.turn, row.step));
        if let Some((turn, step)) = told {
            self.add(id, kind);
            self.takes_turn(id, turn, step);
        }
    }

    /// Whether there is, or was, a node of this id.
    pub fn knows(&self, id: &NodeId) -> bool {
        self.lock().entries.contains_key(id)
    }

    /// Whether a node has ended.
    pub fn has_ended(&self, id: &NodeId) -> bool {
        let nodes = self.lock();
        nodes.entries.get(id).is_some_and(|it| it.state.is_final())
    }

    /// The number of the node that is about to come to the place of this one, from 1. Each number is given once.
    pub fn number_of_next(&self, first: &NodeId) -> u32 {
        let numbers = &mut self.lock().numbers;
        match numbers.get_mut(first) {
            Some(number) => {
                *number += 1;
                *number
            }
            None => {
                numbers.insert(first.clone(), 1);
                1
            }
        }
    }

    /// Changes what a node does; whether it did something else before.
    pub fn set_state(&self, id: &NodeId, state: NodeActivity) -> bool {
        self.change(id, |entry| {
            let other = entry.state != state;
            entry.state = state;
            other
        })
        .unwrap_or(false)
    }

    /// Changes a node, and marks its row to be written to the store.
    fn change<T>(&self, id: &NodeId, change: impl FnOnce(&mut NodeEntry) -> T) -> Option<T> {
        let mut nodes = self.lock();
        let entry = nodes.entries.get_mut(id)?;
        let (place, result) = (entry.place, change(entry));
        nodes.changed.insert(place);
        Some(result)
    }

    /// The node takes a turn, and with it a step of the run.
    pub fn takes_turn(&self, id: &NodeId, turn: u32, step: u32) {
        self.change(id, |entry| {
            entry.turn = turn;
            entry.step = step;
        });
    }

    /// Marks the node to be written to the store once more.
    pub fn touch(&self, id: &NodeId) {
        self.change(id, |_entry| ());
    }

    /// The rows in the store before this process had the run. A node with the same row again is no news.
    pub fn were_told(&self, rows: impl IntoIterator<Item = NodeRow>) {
        let told = rows.into_iter().map(|row| (row.node.clone(), row));
        self.lock().told.extend(told);
    }

    /// The rows of the nodes that differ from those in the store. `now` is the time for rows whose time the store does
    /// not set; `tokens` says how many a node has used, and `waits` what the call of a running node waits for.
    pub fn changed_rows(
        &self,
        now: Timestamp,
        tokens: impl Fn(&NodeId) -> u64,
        waits: impl Fn(&NodeId) -> Option<CallWait>,
    ) -> Result<Vec<NodeRow>, NameError> {
        let mut nodes = self.lock();
        let Nodes {
            order,
            entries,
            changed,
            told,
            ..
        } = &mut *nodes;
        let mut rows = Vec::new();
        for place in std::mem::take(changed) {
            let Some(id) = order.get(place) else { continue };
            let Some(entry) = entries.get(id) else {
                continue;
            };
            let mut row = self.row(id, entry, tokens(id), now)?;
            if row.activity == NodeActivity::Running {
                row.waits = waits(id);
            }
            let before = told.insert(id.clone(), row.clone());
            let stands_so = |before| {
                NodeRow {
                    since: now,
                    ..before
                } == row
            };
            if !before.is_some_and(stands_so) {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    fn row(
        &self,
        id: &NodeId,
        entry: &NodeEntry,
        tokens: u64,
        now: Timestamp,
    ) -> Result<NodeRow, NameError> {
        Ok(NodeRow {
            run: self.run,
            node: id.clone(),
            kind: KindName::new(entry.kind)?,
            activity: entry.state,
            takes_messages: matches!(entry.letters, Mailbox::Open(_)),
            turn: entry.turn,
            step: entry.step,
            tokens,
            since: now,
            waits: None,
        })
    }

    /// Ends a node, no matter what is in its mailbox; returns whether it had not ended before.
    pub fn end(&self, id: &NodeId, state: NodeActivity) -> bool {
        self.change(id, |entry| {
            entry.letters = Mailbox::Closed;
            let ended = entry.state.is_final();
            if !ended {
                entry.state = state;
            }
            !ended
        })
        .unwrap_or(false)
    }

    /// The nodes that have not ended, of one and all below it, in the order in which they came to be.
    pub fn unended_within(&self, id: &NodeId) -> Vec<(NodeId, &'static str)> {
        let nodes = self.lock();
        let within = nodes.order.iter().filter(|node| node.is_within(id));
        let unended = within.filter_map(|node| {
            let entry = nodes.entries.get(node)?;
            (!entry.state.is_final()).then(|| (node.clone(), entry.kind))
        });
        unended.collect()
    }

    fn lock(&self) -> MutexGuard<'_, Nodes> {
        // Each change is complete before the lock is released, so a panic elsewhere leaves the table whole.
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a node does, in words, for a caller that tried to reach it.
fn words(state: NodeActivity) -> &'static str {
    match state {
        NodeActivity::Pending => "pending",
        NodeActivity::Ready => "ready",
        // Only asked if the mailbox is closed: the nodes below it have the work.
        NodeActivity::Running => "waiting for the nodes below it",
        NodeActivity::WaitingReview => "waiting for a review",
        NodeActivity::Paused => "paused",
        NodeActivity::Completed => "completed",
        NodeActivity::Failed => "failed",
        NodeActivity::Cancelled => "canceled",
        NodeActivity::Pruned => "pruned",
    }
}

impl NodeDirectory {
    /// What a node is and does, for events that name it.
    pub fn status<K: AgentType>(&self, node: &NodeId) -> Option<NodeStatus<K>> {
        self.lock().entries.get(node).and_then(|entry| {
            let running = matches!(entry.letters, Mailbox::Open(_));
            Some(NodeStatus {
                run: self.run,
                // A node of another orchestrator is not one of this one's.
                kind: entry.kind.parse().ok()?,
                running,
                status: if running {
                    "running"
                } else {
                    words(entry.state)
                },
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::{NodeId, RunId};
    use interrupts::store::NodeActivity;
    use jiff::Timestamp;

    use super::NodeDirectory;

    #[test]
    fn a_node_that_stands_as_the_store_was_told_before_is_no_news() {
        let run = RunId::generate();
        let now = |second| Timestamp::from_second(second).unwrap();
        let rows = |nodes: &NodeDirectory, second| {
            let rows = nodes.changed_rows(now(second), |_node| 0, |_node| None);
            rows.unwrap()
        };
        let first = NodeId::new("orchestrator").unwrap();
        let second = NodeId::new("orchestrator-2").unwrap();
        let after = |told: Vec<_>| {
            let nodes = NodeDirectory::new(run);
            nodes.were_told(told);
            for node in [&first, &second] {
                nodes.add(node, "ORCHESTRATOR");
                nodes.end(node, NodeActivity::Completed);
            }
            nodes
        };
        let mut told = rows(&after(Vec::new()), 1);
        assert_eq!(told.len(), 2);
        told[1].turn += 1;
        let nodes = after(told);
        let news = rows(&nodes, 2);
        assert_eq!(news.len(), 1, "{news:?}");
        assert_eq!(news[0].node, second);
        nodes.takes_turn(&first, 1, 1);
        assert_eq!(rows(&nodes, 3).len(), 1);
        nodes.takes_turn(&first, 1, 1);
        assert_eq!(rows(&nodes, 4), [], "it stands as it stood");
    }

    #[test]
    fn a_node_ends_once() {
        let nodes = NodeDirectory::new(RunId::generate());
        let node = NodeId::new("orchestrator").unwrap();
        nodes.add(&node, "ORCHESTRATOR");
        assert!(nodes.end(&node, NodeActivity::Pruned));
        assert!(!nodes.end(&node, NodeActivity::Completed));
        assert!(nodes.has_ended(&node));
        assert_eq!(nodes.all()[0].state, NodeActivity::Pruned);
    }
}
