//! One line of control through the workflow: the run's own, or that of one worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use interrupt_router::model::Message;
use interrupt_router::planner::BlackboardRoutingPlanner;
use interrupt_router::{AgentType as _, NodeId, StopReason};
use interrupts::store::NodeActivity;
use serde_json::Value;
use tokio::sync::Mutex;

use super::agents_run::AgentsRun;
use super::failure::{FlowError, of_planner};
use super::kinds::{TreePosition, forward_field, place};
use super::node::{Node, Path};
use crate::agent_kind::AgentKind;
use crate::records::{InterruptRouting, TicketCollectorResult};
use engine::run::RunEvent;
use journal::entry::FlowPosition;

/// The planner of the workflow.
pub(crate) type Planner = BlackboardRoutingPlanner<Flow, FlowEnd, FlowError>;

/// What an action leads to.
pub(crate) type Next = interrupt_router::planner::Next<FlowEnd>;

/// Whose flow it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowRole {
    /// The run's own flow.
    Main,
    /// A worker's, below the dispatch node of this kind.
    Worker {
        /// The kind of the dispatch node.
        dispatch: AgentKind,
    },
}

/// How a flow ended.
#[derive(Debug)]
pub(crate) enum FlowEnd {
    /// The work is done.
    Completed(String),
    /// A worker has its result.
    WorkerDone(Value),
    /// The flow's first node was cut off.
    Pruned(String),
    /// A worker's interrupt was sent to another node than its own dispatch.
    Leaves(Box<InterruptRouting>),
    /// An agent's STOP, or a collector's, ended the run.
    Stopped(String),
    /// It was interrupted from outside.
    Interrupted(StopReason),
    /// A question waits for an answer that cannot come now.
    Waiting,
    /// Another flow has ended the run.
    Halted,
}

/// One line of control.
pub(crate) struct Flow {
    pub(crate) engine: Arc<AgentsRun>,
    pub(crate) planner: Arc<Planner>,
    pub(crate) role: FlowRole,
    /// The first node of a worker's flow.
    pub(crate) worker: Option<NodeId>,
    /// The turn of the run's own flow after which a worker's flow began; 0 for the run's own.
    pub(crate) began: u64,
    /// How many turns were taken in this flow.
    pub(crate) turns: AtomicU64,
    /// The living nodes of this flow. Only the running action locks it, so no task ever waits.
    pub(crate) path: Mutex<Path>,
}

impl Flow {
    /// The field that leads the work of a node of this kind forward.
    pub(crate) fn forward_field(&self, kind: AgentKind) -> &'static str {
        let has_tickets = self
            .engine
            .blackboard
            .last::<TicketCollectorResult>()
            .is_some();
        forward_field(kind, has_tickets)
    }

    /// How far the flow has come.
    pub(crate) fn place(&self) -> FlowPosition {
        let own = self.turns.load(Ordering::Acquire);
        let main = if self.worker.is_none() {
            own
        } else {
            self.began
        };
        FlowPosition {
            worker: self.worker.clone(),
            main,
            own,
        }
    }

    /// Counts one more turn, and returns how far the flow has come then.
    pub(crate) fn advance(&self) -> FlowPosition {
        self.turns.fetch_add(1, Ordering::AcqRel);
        self.place()
    }

    /// Whether the journal has more of this flow after this place.
    pub(crate) fn goes_on(&self) -> bool {
        self.engine.journal.goes_on(&self.place())
    }

    /// Follows routings until the flow ends.
    pub(crate) async fn run(&self, first: Next) -> Result<FlowEnd, FlowError> {
        let mut next = first;
        loop {
            match next {
                Next::Routing(routing) => {
                    next = self
                        .planner
                        .dispatch(routing, self)
                        .await
                        .map_err(of_planner)?
                }
                Next::Finished(FlowEnd::Completed(summary)) => match self.engine.take_later() {
                    Some(routing) => next = Next::routing(routing),
                    None => return Ok(FlowEnd::Completed(summary)),
                },
                Next::Finished(end) => return Ok(end),
            }
        }
    }

    /// Gives the turn to the node of a kind: to the living one, or to a new one in its place.
    ///
    /// Nodes that are neither above it nor itself have done their work and end.
    pub(crate) async fn enter(&self, path: &mut Path, kind: AgentKind) -> Result<(), FlowError> {
        if let Some(at) = path.position(kind) {
            self.leave_below(path, at).await?;
        } else {
            let (stands, name) = place(kind);
            match stands {
                TreePosition::Root => {
                    self.leave_all(path, NodeActivity::Completed).await?;
                    self.spawn(path, kind, self.unused(None, name)?);
                }
                TreePosition::Below(parent) => {
                    self.find_or_place(path, parent).await?;
                    self.spawn_below(path, kind, name)?;
                }
                TreePosition::BelowCaller => self.spawn_below(path, kind, name)?,
            }
        }
        let node = path.top()?;
        self.engine.nodes.open(&node.id);
        self.set_state(node, NodeActivity::Ready);
        Ok(())
    }

    /// Makes the node of a kind the last of the path. A new one is added without a turn: it has nothing to do but to be
    /// the parent.
    async fn find_or_place(&self, path: &mut Path, kind: AgentKind) -> Result<(), FlowError> {
        if let Some(at) = path.position(kind) {
            return self.leave_below(path, at).await;
        }
        match place(kind) {
            (TreePosition::Below(parent), name) => {
                Box::pin(self.find_or_place(path, parent)).await?;
                self.spawn_below(path, kind, name)
            }
            (TreePosition::Root | TreePosition::BelowCaller, name) => {
                self.leave_all(path, NodeActivity::Completed).await?;
                self.spawn(path, kind, self.unused(None, name)?);
                Ok(())
            }
        }
    }

    fn spawn_below(&self, path: &mut Path, kind: AgentKind, name: &str) -> Result<(), FlowError> {
        let caller = path.top()?;
        let home = caller.kind;
        let id = self.unused(Some(&caller.id), name)?;
        self.spawn(path, kind, id);
        path.top()?.home = Some(home);
        Ok(())
    }

    /// An id below `parent` that no node has or had.
    fn unused(&self, parent: Option<&NodeId>, name: &str) -> Result<NodeId, FlowError> {
        let plain = match parent {
            Some(parent) => parent.child(name)?,
            None => NodeId::new(name)?,
        };
        let nodes = &self.engine.nodes;
        loop {
            let id = match nodes.number_of_next(&plain) {
                1 => plain.clone(),
                number => NodeId::new(format!("{plain}-{number}"))?,
            };
            // Workers are numbered on their own.
            if !nodes.knows(&id) {
                return Ok(id);
            }
        }
    }

    /// Adds a node at the end of the path.
    pub(crate) fn spawn(&self, path: &mut Path, kind: AgentKind, id: NodeId) {
        if self.engine.nodes.add(&id, kind.name()) {
            self.engine.recorder.record(RunEvent::AgentSpawned {
                node: id.clone(),
                parent: id.parent(),
                kind: kind.name(),
            });
        }
        path.push(Node::new(id, kind));
    }

    /// Ends the nodes below a place of the path.
    async fn leave_below(&self, path: &mut Path, at: usize) -> Result<(), FlowError> {
        while path.len() > at + 1 {
            self.leave_top(path, NodeActivity::Completed).await?;
        }
        Ok(())
    }

    /// Ends all nodes of the path, the lowest first.
    pub(crate) async fn leave_all(
        &self,
        path: &mut Path,
        state: NodeActivity,
    ) -> Result<(), FlowError> {
        while path.len() > 0 {
            self.leave_top(path, state).await?;
        }
        Ok(())
    }

    /// Ends the node that has the turn.
    pub(crate) async fn leave_top(
        &self,
        path: &mut Path,
        state: NodeActivity,
    ) -> Result<(), FlowError> {
        let Some(node) = path.pop() else {
            return Ok(());
        };
        let engine = &self.engine;
        engine
            .spans
            .agent_ended(&node.id, state == NodeActivity::Failed);
        if engine.nodes.end(&node.id, state) {
            engine.recorder.record(RunEvent::AgentFinished {
                node: node.id.clone(),
                kind: node.kind.name(),
                status: state,
            });
        }
        let given_up = engine.reroutes.node_ended(engine.run, &node.id).await?;
        engine.tell_ended(given_up).await?;
        match state {
            // The code that cuts it off reports that, once all below it has ended too.
            NodeActivity::Pruned => Ok(()),
            NodeActivity::Pending
            | NodeActivity::Ready
            | NodeActivity::Running
            | NodeActivity::WaitingReview
            | NodeActivity::Paused
            | NodeActivity::Completed
            | NodeActivity::Failed
            | NodeActivity::Cancelled => Ok(engine.settle_stops_of(&node.id).await?),
        }
    }

    /// Leaves all nodes as they are: the run waits, and no agent works. The store keeps what comes for them until the
    /// run continues, and the events that wait for their interrupts.
    fn close_all(&self, path: &mut Path, state: Option<NodeActivity>) {
        while let Some(node) = path.pop() {
            if let Some(state) = state {
                self.set_state(&node, state);
            }
        }
    }

    /// Ends the flow's nodes as the flow ended.
    pub(crate) async fn settle(&self, end: &Result<FlowEnd, FlowError>) -> Result<(), FlowError> {
        let mut path = self.path.lock().await;
        match end {
            Ok(FlowEnd::Completed(_) | FlowEnd::WorkerDone(_) | FlowEnd::Leaves(_)) => {
                self.leave_all(&mut path, NodeActivity::Completed).await
            }
            Ok(FlowEnd::Pruned(_)) => self.leave_all(&mut path, NodeActivity::Pruned).await,
            Ok(FlowEnd::Stopped(_)) => self.leave_all(&mut path, NodeActivity::Cancelled).await,
            Ok(FlowEnd::Interrupted(_)) => {
                self.close_all(&mut path, Some(NodeActivity::Paused));
                Ok(())
            }
            Ok(FlowEnd::Waiting | FlowEnd::Halted) => {
                self.close_all(&mut path, None);
                Ok(())
            }
            // Only the recording has failed: the nodes continue from there.
            Err(error) if error.is_of_the_store() => {
                self.close_all(&mut path, None);
                Ok(())
            }
            // What failed is tried again when the run is resumed.
            Err(error) if error.is_resumable() => {
                self.close_all(&mut path, Some(NodeActivity::Paused));
                Ok(())
            }
            Err(_) => {
                self.leave_top(&mut path, NodeActivity::Failed).await?;
                self.leave_all(&mut path, NodeActivity::Cancelled).await
            }
        }
    }

    /// Sets a node's state, and reports it.
    pub(crate) fn set_state(&self, node: &Node, state: NodeActivity) {
        if self.engine.nodes.set_state(&node.id, state) {
            self.engine.recorder.record(RunEvent::AgentStatusChanged {
                node: node.id.clone(),
                kind: node.kind.name(),
                status: state,
            });
        }
    }

    /// Adds a message to a node that is no request: a decision, a note, a supervisor's words.
    pub(crate) fn tell(&self, node: &mut Node, message: Message) {
        self.engine.recorder.record(RunEvent::MessageAdded {
            node: node.id.clone(),
            text: message.text.to_string(),
        });
        node.conversation.push(message);
    }
}
