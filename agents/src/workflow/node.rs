//! A node as its own flow sees it: its conversation, its turns, and the path of nodes above it.

use std::sync::Arc;

use interrupt_router::{InterruptType, NodeId};
use serde_json::Value;

use super::conversation::NodeConversation;
use super::failure::FlowError;
use crate::agent_kind::AgentKind;

/// A node of a flow.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) kind: AgentKind,
    /// How many answers it was asked for.
    pub(crate) turn: u32,
    /// The last step of the run that it took.
    pub(crate) step: u32,
    pub(crate) conversation: NodeConversation,
    /// The type of its last interrupts, and how many it raised in a row of its own accord.
    pub(crate) streak: Option<Streak>,
    /// How many times in a row it has called a node that comes back to it.
    pub(crate) calls_in_a_row: u32,
    /// Whether a supervisor's event was read and no interrupt was raised since.
    pub(crate) asked_to_interrupt: bool,
    /// The kind to which its answer goes back, for nodes that others call.
    pub(crate) home: Option<AgentKind>,
    /// What its workers were given and what came of it, for dispatch nodes.
    pub(crate) work: Vec<Arc<WorkDone>>,
    /// How many workers it has started.
    pub(crate) workers: usize,
    /// Which of its dispatch node's workers it is, from 1, for workers.
    pub(crate) number: usize,
    /// What the worker has to do, for workers.
    pub(crate) assignment: Option<Arc<Value>>,
}

/// What is known of a node's part in the work.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) kind: AgentKind,
    /// Which of its dispatch node's workers it is, from 1, for workers.
    pub(crate) number: usize,
    /// What the worker has to do, for workers.
    pub(crate) assignment: Option<Arc<Value>>,
}

/// Interrupts of one type, raised in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Streak {
    pub(crate) interrupt_type: InterruptType,
    pub(crate) count: u32,
    /// Whether the node was told to do something else.
    pub(crate) told: bool,
}

/// The work of one worker, and what came of it.
#[derive(Debug)]
pub(crate) struct WorkDone {
    pub(crate) worker: NodeId,
    pub(crate) work: Arc<Value>,
    pub(crate) outcome: Worked,
}

/// What came of a worker's work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Worked {
    /// Its result.
    Result(Value),
    /// Why there is none.
    Missing(String),
}

impl Node {
    pub(crate) fn new(id: NodeId, kind: AgentKind) -> Self {
        Self {
            id,
            kind,
            turn: 0,
            step: 0,
            conversation: NodeConversation::default(),
            streak: None,
            calls_in_a_row: 0,
            asked_to_interrupt: false,
            home: None,
            work: Vec::new(),
            workers: 0,
            number: 0,
            assignment: None,
        }
    }

    /// What is known of its part in the work now.
    pub(crate) fn part(&self) -> Assignment {
        Assignment {
            kind: self.kind,
            number: self.number,
            assignment: self.assignment.clone(),
        }
    }
}

/// The nodes of a flow that are alive: from its first node down to the one that has the turn.
#[derive(Debug, Default)]
pub(crate) struct Path {
    nodes: Vec<Node>,
}

impl Path {
    /// The node that has the turn.
    pub(crate) fn top(&mut self) -> Result<&mut Node, FlowError> {
        self.nodes.last_mut().ok_or(FlowError::Lost {
            detail: "no node has the turn",
        })
    }

    /// The place of the node of this kind.
    pub(crate) fn position(&self, kind: AgentKind) -> Option<usize> {
        self.nodes.iter().position(|node| node.kind == kind)
    }

    /// The ids of the nodes, the first one first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &NodeId> {
        self.nodes.iter().map(|node| &node.id)
    }

    pub(crate) fn push(&mut self, node: Node) {
        self.nodes.push(node);
    }

    pub(crate) fn pop(&mut self) -> Option<Node> {
        self.nodes.pop()
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }
}
