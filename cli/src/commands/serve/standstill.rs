//! Whether anything of a run still works, or all of it waits for people.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use engine::run::{RunEvent, RunObserver, RunOccurrence};
use interrupt_router::NodeId;
use interrupts::store::NodeActivity;
use tokio::sync::watch;

/// Watches a run's nodes.
#[derive(Debug)]
pub(super) struct Standstill {
    nodes: Mutex<HashMap<NodeId, KnownNode>>,
    state_words: watch::Sender<bool>,
}

#[derive(Debug)]
struct KnownNode {
    parent: Option<NodeId>,
    state: NodeActivity,
}

impl Standstill {
    /// For a run whose nodes report what they do.
    pub(super) fn of_nodes() -> Self {
        Self::begin(false)
    }

    /// For a run that does one thing at a time: while it asks, nothing else of it works.
    pub(super) fn of_one_line() -> Self {
        Self::begin(true)
    }

    fn begin(state_words: bool) -> Self {
        Self {
            nodes: Mutex::default(),
            state_words: watch::Sender::new(state_words),
        }
    }

    /// Whether all of the run waits, from now on.
    pub(super) fn watch(&self) -> watch::Receiver<bool> {
        self.state_words.subscribe()
    }

    fn change(&self, change: impl FnOnce(&mut HashMap<NodeId, KnownNode>)) {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut nodes);
        self.state_words.send_replace(stand_still(&nodes));
    }
}

impl RunObserver for Standstill {
    fn observe(&self, occurrence: &RunOccurrence) {
        tracing::trace!(event = ?occurrence.event, "a run went on");
        if let RunEvent::AgentSpawned { node, parent, .. } = &occurrence.event {
            let (node, parent) = (node.clone(), parent.clone());
            let state = NodeActivity::Pending;
            self.change(|nodes| {
                nodes.insert(node, KnownNode { parent, state });
            });
        } else if let RunEvent::AgentStatusChanged { node, status, .. } = &occurrence.event {
            self.change(|nodes| {
                if let Some(known) = nodes.get_mut(node) {
                    known.state = *status;
                }
            });
        }
    }

    fn wants_chunks(&self) -> bool {
        tracing::enabled!(tracing::Level::TRACE)
    }
}

/// Whether a node waits, and every node that does not waits for a node below it that does.
fn stand_still(nodes: &HashMap<NodeId, KnownNode>) -> bool {
    let mut waits = false;
    for (node, known) in nodes {
        match known.state {
            NodeActivity::WaitingReview | NodeActivity::Paused => waits = true,
            NodeActivity::Pending | NodeActivity::Ready | NodeActivity::Running => {
                if !has_live_below(nodes, node) {
                    return false;
                }
            }
            NodeActivity::Completed
            | NodeActivity::Failed
            | NodeActivity::Cancelled
            | NodeActivity::Pruned => {}
        }
    }
    waits
}

fn has_live_below(nodes: &HashMap<NodeId, KnownNode>, node: &NodeId) -> bool {
    nodes.values().any(|other| {
        other.parent.as_ref() == Some(node)
            && match other.state {
                NodeActivity::Pending
                | NodeActivity::Ready
                | NodeActivity::Running
                | NodeActivity::WaitingReview
                | NodeActivity::Paused => true,
                NodeActivity::Completed
                | NodeActivity::Failed
                | NodeActivity::Cancelled
                | NodeActivity::Pruned => false,
            }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use interrupt_router::NodeId;
    use interrupts::store::NodeActivity;

    use super::{KnownNode, stand_still};

    fn tree(rows: &[(&str, Option<&str>, NodeActivity)]) -> HashMap<NodeId, KnownNode> {
        let id = |text: &str| NodeId::new(text).unwrap();
        let known = rows.iter().map(|(node, parent, state)| {
            let parent = parent.map(id);
            (
                id(node),
                KnownNode {
                    parent,
                    state: *state,
                },
            )
        });
        known.collect()
    }

    #[test]
    fn a_run_stands_still_when_all_that_lives_waits() {
        use NodeActivity::{Completed, Running, WaitingReview};
        let asks = ("orchestrator/a", Some("orchestrator"), WaitingReview);
        let works = ("orchestrator/b", Some("orchestrator"), Running);
        let done = ("orchestrator/b", Some("orchestrator"), Completed);
        let above = ("orchestrator", None, Running);
        assert!(stand_still(&tree(&[above, asks])));
        assert!(stand_still(&tree(&[above, asks, done])));
        assert!(!stand_still(&tree(&[above, asks, works])));
        assert!(!stand_still(&tree(&[above])), "nobody waits");
        assert!(!stand_still(&tree(&[])));
    }
}
