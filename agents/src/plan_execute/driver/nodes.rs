//! The agents of a plan as the store and other processes see them.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use interrupt_router::NodeId;
use interrupts::store::NodeActivity;
use tools::Launcher;

use super::Driver;
use crate::workflow::failure::FlowError;
use engine::run::{LiveRun, NodeView};
use engine::tools::{Ground, LaunchRound};
use journal::error::KeepError;
use planning::{Activity, PLAN_EXECUTE, Phase, PlanEnd, PlanRole};

/// The agent that does this activity.
pub(super) const fn role_of(activity: &Activity) -> PlanRole {
    match activity {
        Activity::Planning => PlanRole::Planner,
        Activity::Executing { .. } => PlanRole::Executor,
        Activity::Replanning | Activity::ForcedReplanning | Activity::Finishing { .. } => {
            PlanRole::Replanner
        }
    }
}

/// The state of the plan's node, and which of its agents is at work.
fn snapshot(phase: &Phase) -> (NodeActivity, Option<PlanRole>) {
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
    fn agent(&self, role: PlanRole) -> Result<NodeId, FlowError> {
        Ok(self.root.child(role.segment())?)
    }

    /// The nodes that earlier owners of the run recorded.
    pub(super) async fn find_nodes(&self) -> Result<(), FlowError> {
        self.read_told().await?;
        self.nodes.add(&self.root, PLAN_EXECUTE);
        self.nodes.add_told(&self.root, PLAN_EXECUTE);
        for role in PlanRole::ALL {
            self.nodes.add_told(&self.agent(role)?, role.name());
        }
        Ok(())
    }

    /// Saves the nodes' states, if they have changed.
    pub(super) async fn show_nodes(&self) -> Result<(), FlowError> {
        let state = &self.snapshot.state;
        let (does, at_work) = snapshot(state.phase());
        let done = u32::try_from(state.plan().finished().len()).unwrap_or(u32::MAX);
        self.show(&self.root, does, Some(done));
        for role in PlanRole::ALL {
            let node = self.agent(role)?;
            if Some(role) == at_work {
                self.nodes.add(&node, role.name());
                // The step number belongs only to the agent that took it.
                let step = (does == NodeActivity::Running).then_some(self.snapshot.asked);
                self.show(&node, does, step);
            } else if self.nodes.knows(&node) {
                let rests = if does.is_final() {
                    does
                } else {
                    NodeActivity::Ready
                };
                self.show(&node, rests, None);
            }
        }
        Ok(self.keep_nodes().await?)
    }

    /// What the tools of its agents run on.
    pub(super) fn ground(&self) -> Arc<dyn Ground> {
        Arc::new(PlanGround {
            live: Arc::downgrade(&self.live),
        })
    }

    fn show(&self, node: &NodeId, does: NodeActivity, step: Option<u32>) {
        if let Some(step) = step {
            self.nodes.takes_turn(node, self.snapshot.asked, step);
        }
        if does.is_final() {
            self.nodes.end(node, does);
            return;
        }
        self.nodes.set_state(node, does);
        if self.takes_messages {
            self.nodes.open(node);
        }
    }

    /// Tells the store whether the plan will read messages. Before its end it will not: the store refuses messages from
    /// then on, so that it accepts none that stays unread.
    pub(super) async fn take_messages(&mut self, takes: bool) -> Result<(), FlowError> {
        self.takes_messages = takes;
        for view in self.nodes.all() {
            if takes {
                self.nodes.open(&view.node);
            } else {
                self.nodes.close(&view.node);
            }
        }
        Ok(self.keep_nodes().await?)
    }
}

/// What the tools of a plan's agents run on: the plan, which waits while one of them does.
struct PlanGround {
    live: Weak<LiveRun>,
}

#[async_trait]
impl Ground for PlanGround {
    fn launcher(&self, _round: LaunchRound, _most_depth: u32) -> Option<Arc<dyn Launcher>> {
        None
    }

    async fn keep_nodes(&self) -> Result<(), KeepError> {
        let Some(live) = self.live.upgrade() else {
            return Ok(());
        };
        let root = NodeId::root();
        let waits =
            |view: &NodeView| view.node != root && view.state == NodeActivity::WaitingReview;
        let does = if live.nodes.all().iter().any(waits) {
            NodeActivity::WaitingReview
        } else {
            NodeActivity::Running
        };
        live.nodes.set_state(&root, does);
        live.keep_nodes().await
    }
}
