//! The agents of a plan as the store and other processes see them.

use std::collections::BTreeMap;

use interrupts::KindName;
use interrupts::store::{CallWait, NodeActivity, NodeRow};
use routing_core::NodeId;

use super::Driver;
use crate::workflow::failure::FlowError;
use journal::error::KeepError;
use planning::{Activity, PLAN_EXECUTE, Phase, PlanEnd, PlanRole};

/// What the store was told of the plan's nodes.
#[derive(Debug, Default)]
pub(super) struct ToldNodes {
    told: BTreeMap<NodeId, NodeRow>,
    /// Whether nobody will read a message any more.
    box_is_closed: bool,
}

/// The agent that does this.
pub(super) const fn role_of(activity: &Activity) -> PlanRole {
    match activity {
        Activity::Planning => PlanRole::Planner,
        Activity::Executing { .. } => PlanRole::Executor,
        Activity::Replanning | Activity::ForcedReplanning | Activity::Finishing { .. } => {
            PlanRole::Replanner
        }
    }
}

/// What the plan does, and which of its agents is at it.
fn standing(phase: &Phase) -> (NodeActivity, Option<PlanRole>) {
    match phase {
        Phase::Created => (NodeActivity::Ready, None),
        Phase::Working { activity } | Phase::BackingOff { activity, .. } => {
            (NodeActivity::Running, Some(role_of(activity)))
        }
        Phase::Asking { activity, .. } => (NodeActivity::WaitingReview, Some(role_of(activity))),
        Phase::Held(held) => (NodeActivity::Paused, Some(role_of(&held.then))),
        Phase::Ended(PlanEnd::Completed { .. }) => (NodeActivity::Completed, None),
        Phase::Ended(PlanEnd::Cancelled { .. }) => (NodeActivity::Cancelled, None),
    }
}

impl Driver {
    /// Reads what the store was told of the nodes by the processes that had the run before.
    pub(super) async fn read_nodes(&mut self) -> Result<(), FlowError> {
        let store = self.journal.record.store();
        let mut nodes = vec![self.root.clone()];
        for role in PlanRole::ALL {
            nodes.push(self.root.child(role.segment())?);
        }
        for node in nodes {
            let told = store.node(self.run, &node).await.map_err(KeepError::from)?;
            self.told.told.extend(told.map(|row| (node, row)));
        }
        Ok(())
    }

    /// Tells the store how the nodes stand, where that has changed.
    pub(super) async fn keep_nodes(&mut self) -> Result<(), FlowError> {
        let state = &self.standing.state;
        let (activity, role) = standing(state.phase());
        let done = u32::try_from(state.plan().finished().len()).unwrap_or(u32::MAX);
        let mut now = BTreeMap::new();
        now.insert(self.root.clone(), (PLAN_EXECUTE, activity, done));
        for other in PlanRole::ALL {
            let node = self.root.child(other.segment())?;
            let does = if Some(other) == role {
                activity
            } else if !self.told.told.contains_key(&node) {
                continue;
            } else if activity.is_final() {
                activity
            } else {
                NodeActivity::Ready
            };
            now.insert(node, (other.name(), does, self.standing.asked));
        }
        let mut rows = Vec::new();
        for (node, (kind, does, step)) in now {
            // The number of the last step is the one's alone who took it.
            let counts = node == self.root || does == NodeActivity::Running;
            let told = self.told.told.get(&node);
            let (turn, step) = match told.filter(|_| !counts) {
                Some(told) => (told.turn, told.step),
                None => (self.standing.asked, step),
            };
            let is_known = told.is_some_and(|told| {
                let stands = told.activity == does && told.step == step;
                let takes = told.takes_messages == self.takes_messages(does);
                let waits = told.waits == self.waits_of(&node, does);
                stands && takes && waits && told.tokens == self.model.tokens_of(&node)
            });
            if is_known {
                continue;
            }
            let row = self.row(node.clone(), kind, does, (turn, step))?;
            self.told.told.insert(node, row.clone());
            rows.push(row);
        }
        self.put(rows).await
    }

    /// Says to the store whether somebody will read messages. Before the end nobody will: the store refuses them
    /// from then on, so that none is accepted that nobody reads.
    pub(super) async fn take_messages(&mut self, takes: bool) -> Result<(), FlowError> {
        self.told.box_is_closed = !takes;
        for row in self.told.told.values_mut() {
            row.takes_messages = takes && !row.activity.is_final();
        }
        let rows = self.told.told.values().cloned().collect();
        self.put(rows).await
    }

    fn waits_of(&self, node: &NodeId, activity: NodeActivity) -> Option<CallWait> {
        let waits = self.recorder.waits();
        waits
            .of(node)
            .filter(|_wait| activity == NodeActivity::Running)
    }

    const fn takes_messages(&self, activity: NodeActivity) -> bool {
        !self.told.box_is_closed && !activity.is_final()
    }

    async fn put(&self, rows: Vec<NodeRow>) -> Result<(), FlowError> {
        let record = &self.journal.record;
        if !rows.is_empty() {
            let kept = record.store().put_nodes(self.run, record.epoch()?, rows);
            kept.await.map_err(KeepError::from)?;
        }
        Ok(())
    }

    fn row(
        &self,
        node: NodeId,
        kind: &str,
        activity: NodeActivity,
        (turn, step): (u32, u32),
    ) -> Result<NodeRow, KeepError> {
        let waits = self.waits_of(&node, activity);
        Ok(NodeRow {
            run: self.run,
            tokens: self.model.tokens_of(&node),
            node,
            kind: KindName::new(kind)?,
            activity,
            takes_messages: self.takes_messages(activity),
            turn,
            step,
            since: self.now(),
            waits,
        })
    }
}
