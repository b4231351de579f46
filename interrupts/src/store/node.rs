//! The nodes of runs as a store keeps them, so that every process can list them and address one.

use async_trait::async_trait;
use interrupt_router::{NodeId, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::interrupt::Page;
use super::run::RunError;
use crate::life::{Family, Interrupt, RunState, State};
use crate::names::KindName;

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeActivity {
    /// It has nothing to do yet.
    Pending,
    /// It has its request and waits for its turn, or for its run to continue.
    Ready,
    /// It works.
    Running,
    /// Its interrupt waits for a decision.
    WaitingReview,
    /// It was stopped and waits to be resumed.
    Paused,
    /// It has done its work. Final.
    Completed,
    /// It failed. Final.
    Failed,
    /// It was stopped for good. Final.
    Cancelled,
    /// It was cut off, with all below it. Final.
    Pruned,
}

impl NodeActivity {
    /// Its name, as programs read it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::WaitingReview => "waiting_review",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Pruned => "pruned",
        }
    }

    /// Whether nothing can happen to it any more.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled | Self::Pruned => true,
            Self::Pending | Self::Ready | Self::Running | Self::WaitingReview | Self::Paused => {
                false
            }
        }
    }
}

/// A node in its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRow {
    /// Its run.
    pub run: RunId,
    /// Its id, which is unique in its run.
    pub node: NodeId,
    /// Its kind.
    pub kind: KindName,
    /// What it does.
    pub activity: NodeActivity,
    /// Whether a supervisor's event or a message can reach it: it has a turn, or will have one.
    pub takes_messages: bool,
    /// How many answers it was asked for.
    pub turn: u32,
    /// The step of its run that it took last, from 1; 0 before its first.
    pub step: u32,
    /// The tokens that its model calls have read and written, as far as the provider said.
    #[serde(default)]
    pub tokens: u64,
    /// Since when it does this, by the store's clock.
    pub since: Timestamp,
    /// What the call to its model waits for, if it waits for its next try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<CallWait>,
}

/// A call to a model that failed and is made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWait {
    /// Why, in a few words.
    pub why: String,
    /// When it is made again.
    pub until: Timestamp,
}

impl CallWait {
    /// What it is at a time, in words.
    pub fn at(&self, now: Timestamp) -> String {
        let seconds = self.until.duration_since(now).as_secs_f64().ceil();
        format!("{}, goes on in {seconds} s", self.why)
    }
}

impl NodeRow {
    /// What the call to its model waits for at a time, if the node does this: a node that no process executes, or that
    /// is not running, waits for nothing.
    pub fn waits_at(&self, does: NodeActivity, now: Timestamp) -> Option<&CallWait> {
        let waits = self.waits.as_ref()?;
        (does == NodeActivity::Running && waits.until > now).then_some(waits)
    }

    /// What the node does, as others see it. Its owner records only what the node does by itself: a question that waits
    /// for a person, and the end of its run or of a pause, may come after the last record. `interrupts` are those of
    /// its run that have not ended, and `run` is its run's state for its nodes: see [`Run::state_for_nodes`].
    ///
    /// [`Run::state_for_nodes`]: super::run::Run::state_for_nodes
    pub fn activity_in<'i>(
        &self,
        run: RunState,
        interrupts: impl IntoIterator<Item = &'i Interrupt>,
    ) -> NodeActivity {
        let is_own = |interrupt: &&Interrupt| {
            interrupt.run == self.run
                && interrupt.node == self.node
                && interrupt.state == State::AwaitingReview
        };
        match self.activity {
            NodeActivity::Ready | NodeActivity::Running => {
                let mut own = interrupts.into_iter().filter(is_own);
                if own.any(|interrupt| interrupt.family() == Family::Question) {
                    NodeActivity::WaitingReview
                } else {
                    match run {
                        RunState::Paused => NodeActivity::Paused,
                        // No process executes a run that waits.
                        RunState::Waiting => NodeActivity::Ready,
                        RunState::Created
                        | RunState::Running
                        | RunState::Stopping
                        | RunState::Completed
                        | RunState::Failed
                        | RunState::Cancelled => self.activity,
                    }
                }
            }
            // What paused its run has ended, or what it asked is decided; it stays as it is if something of its own is
            // open.
            NodeActivity::Paused | NodeActivity::WaitingReview if run == RunState::Waiting => {
                if interrupts.into_iter().any(|interrupt| is_own(&interrupt)) {
                    self.activity
                } else {
                    NodeActivity::Ready
                }
            }
            NodeActivity::Pending
            | NodeActivity::WaitingReview
            | NodeActivity::Paused
            | NodeActivity::Completed
            | NodeActivity::Failed
            | NodeActivity::Cancelled
            | NodeActivity::Pruned => self.activity,
        }
    }
}

/// Keeps the nodes of runs.
#[async_trait]
pub trait Nodes: Send + Sync {
    /// Records the state of nodes of a run, by the run's owner in its epoch, and announces each whose activity changed.
    /// The store sets `since` if the activity changes, and keeps it otherwise.
    ///
    /// # Errors
    ///
    /// [`RunError`]; fenced if a newer owner has the run.
    ///
    /// # Cancel safety
    ///
    /// If dropped, all were recorded or none. Safe to repeat.
    async fn put_nodes(&self, run: RunId, epoch: u64, nodes: Vec<NodeRow>) -> Result<(), RunError>;

    /// A node of a run.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn node(&self, run: RunId, node: &NodeId) -> Result<Option<NodeRow>, StoreError>;

    /// Nodes in the order in which they came to be, each with its position: of one run, or of all runs.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn nodes(
        &self,
        run: Option<RunId>,
        page: Page,
    ) -> Result<Vec<(u64, NodeRow)>, StoreError>;
}
