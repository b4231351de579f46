//! That a node waits for a person, as the store and other processes see it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use interrupts::store::NodeActivity;
use routing_core::{InterruptId, NodeId};

use super::{AskingNode, ToolDesk};
use journal::error::KeepError;

/// The questions about calls that wait for answers, each with its node.
#[derive(Debug, Default)]
pub(super) struct WaitingNodes {
    open: Mutex<BTreeSet<(NodeId, InterruptId)>>,
}

impl WaitingNodes {
    fn begin(&self, node: &NodeId, id: InterruptId) {
        self.change(|open| open.insert((node.clone(), id)));
    }

    /// Whether the node waits for nothing any more.
    fn end(&self, node: &NodeId, id: InterruptId) -> bool {
        self.change(|open| {
            open.remove(&(node.clone(), id));
            !open.iter().any(|(other, _id)| other == node)
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut BTreeSet<(NodeId, InterruptId)>) -> T) -> T {
        // Every change is one insertion or removal, so a panic elsewhere leaves it whole.
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ToolDesk {
    /// The node waits for an answer, and everybody can see that.
    pub(super) async fn waits(&self, asker: &AskingNode, id: InterruptId) -> Result<(), KeepError> {
        self.waiting.begin(&asker.node, id);
        self.stands(asker, NodeActivity::WaitingReview).await
    }

    /// The question has ended: the node goes on, unless another call of it waits too.
    pub(super) async fn goes_on(
        &self,
        asker: &AskingNode,
        id: InterruptId,
    ) -> Result<(), KeepError> {
        if let Some(ledger) = &self.ledger {
            ledger.goes_on(id);
        }
        if self.waiting.end(&asker.node, id) {
            self.stands(asker, NodeActivity::Running).await?;
        }
        Ok(())
    }

    async fn stands(&self, asker: &AskingNode, activity: NodeActivity) -> Result<(), KeepError> {
        if let Some(ground) = &asker.ground {
            // It knows how all of its nodes stand.
            return ground.keep_nodes().await;
        }
        let record = &self.desk.record;
        if record.is_watched_only() {
            return Ok(());
        }
        let mut rows = Vec::new();
        let above = asker.node.parent();
        for node in [Some(&asker.node), above.as_ref()].into_iter().flatten() {
            let Some(mut row) = record.store().node(record.run, node).await? else {
                continue;
            };
            let is_at_it = matches!(
                row.activity,
                NodeActivity::Running | NodeActivity::WaitingReview
            );
            if is_at_it && row.activity != activity {
                row.activity = activity;
                rows.push(row);
            }
        }
        if !rows.is_empty() {
            let epoch = record.epoch()?;
            record.store().put_nodes(record.run, epoch, rows).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use routing_core::{InterruptId, NodeId};

    use super::WaitingNodes;

    #[test]
    fn a_node_waits_until_the_last_of_its_questions_has_ended() {
        let (waiting, node) = (WaitingNodes::default(), NodeId::root());
        let other = node.child("other").unwrap();
        let [first, second, third] = [(); 3].map(|()| InterruptId::generate());
        waiting.begin(&node, first);
        waiting.begin(&node, second);
        waiting.begin(&other, third);
        assert!(!waiting.end(&node, first));
        assert!(waiting.end(&node, second));
        assert!(waiting.end(&other, third));
    }
}
