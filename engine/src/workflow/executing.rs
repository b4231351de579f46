//! One execution of a workflow's run: begun or continued, to its end or until it rests.

use std::sync::Arc;

use interrupt_router::bus::{BusEvent, DEFAULT_BACKLOG, EventBus};
use interrupt_router::handler::Branches;
use interrupt_router::model::LanguageModel as _;
use interrupt_router::{Blackboard, EventId, NodeId, StopScope};
use interrupts::catalogue::{CatalogueDraft, CatalogueError, SharedCatalogue};
use interrupts::store::{NodeActivity, StoreError};
use interrupts::{NameError, WorkflowName};
use serde::{Deserialize, Serialize};

use super::exit::Exit;
use super::{Agent, Run, RunContext, Workflow};
use crate::durable::replay::Replay;
use crate::run::{
    CheckpointContent, Hold, Kinds, LiveRun, RunEnd, RunError, RunEvent, RunReport, RunSettings,
    RunStart, RunStatus, WorkflowParts,
};
use journal::error::KeepError;

/// A run that was executed, to its end or until it rests.
#[derive(Debug)]
#[non_exhaustive]
pub struct Executed<T> {
    /// What became of it.
    pub report: RunReport,
    /// Its result, if its work is done.
    pub output: Option<T>,
}

/// A run that is about to be executed. During execution, its bus takes events and its directory knows its agents.
pub struct Execution<W: Workflow> {
    workflow: Arc<W>,
    run: Run<W>,
}

/// What the store keeps of a run that has not begun: its workflow's name, and its input.
#[derive(Serialize, Deserialize)]
struct PendingRun<I> {
    workflow: String,
    input: I,
}

/// The part of a workflow, or of its input, that a store cannot keep.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowMistake {
    /// A name of it.
    #[error(transparent)]
    Name(#[from] NameError),
    /// What it says of itself.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// Its input.
    #[error("the input cannot be written as JSON")]
    Input(#[from] serde_json::Error),
}

/// A run is not this workflow's.
#[derive(Debug, thiserror::Error)]
#[error("the run is one of the workflow `{found}`, and this is `{own}`")]
struct OtherWorkflow {
    found: String,
    own: &'static str,
}

impl<W: Workflow> Execution<W> {
    /// A run that begins with this input. One that is in the store goes on, with the input that it began with.
    ///
    /// # Errors
    ///
    /// [`WorkflowMistake`]. Nothing was begun then.
    pub fn begin(
        workflow: Arc<W>,
        mut settings: RunSettings,
        input: &W::Input,
    ) -> Result<Self, WorkflowMistake> {
        let order = Self::order(input)?;
        if let Hold::Own { content, .. } = &mut settings.store.hold {
            *content = order;
        }
        Self::resume(workflow, settings)
    }

    /// What the store keeps of a run that begins with this input.
    ///
    /// # Errors
    ///
    /// If the input cannot be written as JSON.
    pub fn order(input: &W::Input) -> Result<String, WorkflowMistake> {
        Ok(serde_json::to_string(&PendingRun {
            workflow: W::NAME.to_owned(),
            input,
        })?)
    }

    /// A run that goes on.
    ///
    /// # Errors
    ///
    /// [`WorkflowMistake`]. Nothing was done then.
    pub fn resume(workflow: Arc<W>, settings: RunSettings) -> Result<Self, WorkflowMistake> {
        let parts = WorkflowParts {
            kinds: Kinds::of::<W::Kind>(),
            catalogue: Some(catalogue_of::<W>()?),
            checkpoints: CheckpointContent::Agents,
        };
        let live = Arc::new(LiveRun::new(parts, settings));
        let admission = Arc::clone(&live.reroute_log) as Arc<_>;
        let shared = RunContext {
            // The run is code, not a table of nodes, so it is undefined what a fork of it would be.
            handler: live.handler(Branches::Refused),
            bus: Arc::new(EventBus::new(admission, DEFAULT_BACKLOG)),
            live,
            blackboard: Blackboard::new(),
        };
        let run = Run {
            shared: Arc::new(shared),
        };
        Ok(Self { workflow, run })
    }

    /// The run, for callers that reach it from outside while it is executed.
    pub fn run(&self) -> Run<W> {
        self.run.clone()
    }

    /// Executes the run, and reports what became of it: from its start, or from where it was. By the time this returns,
    /// everything it started has ended, and everything reported is recorded.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all work of the run at once, and nothing is reported; what was recorded is kept, and
    /// the run can be resumed. Stop `scope` instead.
    pub async fn execute(self, scope: &StopScope) -> Executed<W::Output> {
        let live = &self.run.shared.live;
        let mut output = None;
        let report = live
            .execute(W::NAME, scope, async |start| {
                let end = match self.drive(start, scope).await {
                    Ok(Ok(done)) => match serde_json::to_string(&done) {
                        Ok(text) => {
                            output = Some(done);
                            Ok(RunEnd::Completed(text))
                        }
                        Err(error) => Err(error.into()),
                    },
                    Ok(Err(exit)) => exit.into_end(),
                    Err(error) => Err(error),
                };
                self.settle(&end).await?;
                end
            })
            .await;
        let output = output.filter(|_| matches!(report.status, RunStatus::Completed { .. }));
        Executed { report, output }
    }

    /// Runs the workflow's code, from its start.
    async fn drive(
        &self,
        start: RunStart,
        scope: &StopScope,
    ) -> Result<Result<W::Output, Exit>, RunError> {
        let live = &self.run.shared.live;
        live.take_undelivered(start).await?;
        let input = self.input().await?;
        let started = RunEvent::Started {
            goal: W::NAME.to_owned(),
            model: live.model.name().to_owned(),
            workspace: String::new(),
        };
        live.recorder.record_since(started, live.journal.last());
        let (workflow, run) = (Arc::clone(&self.workflow), self.run.clone());
        let work = Replay::since(live.journal.last()).around(async move {
            let first = Agent::new(run, NodeId::root(), W::FIRST);
            Ok(workflow.run(first, input).await)
        });
        live.work(work, scope).await
    }

    /// The input that the run began with, as the store keeps it.
    async fn input(&self) -> Result<W::Input, RunError> {
        let live = &self.run.shared.live;
        let row = live.journal.record.store().run(live.run).await;
        let row = row.map_err(KeepError::from)?;
        let row = row.ok_or(KeepError::NoRun { run: live.run })?;
        let order = serde_json::from_str::<PendingRun<serde_json::Value>>(&row.content);
        let unreadable = |source| KeepError::Unreadable {
            place: "its input".to_owned(),
            source,
        };
        let order = order.map_err(unreadable)?;
        if order.workflow != W::NAME {
            let found = order.workflow;
            let own = W::NAME;
            return Err(RunError::resumable(
                OtherWorkflow { found, own },
                "resume the run with the workflow that began it",
            ));
        }
        Ok(serde_json::from_value(order.input).map_err(unreadable)?)
    }

    /// Ends the agents as the run ended, or leaves them in their states.
    async fn settle(&self, end: &Result<RunEnd, RunError>) -> Result<(), RunError> {
        let live = &self.run.shared.live;
        let (ends, state) = match end {
            Ok(RunEnd::Completed(_)) => (true, NodeActivity::Completed),
            Ok(RunEnd::Stopped(_)) => (true, NodeActivity::Cancelled),
            Ok(RunEnd::Interrupted(_)) => (false, NodeActivity::Paused),
            // A waiting agent says so itself, and what could not be recorded stays as it was.
            Ok(RunEnd::Waiting) => return Ok(()),
            Err(error) if error.is_of_the_store() => return Ok(()),
            Err(error) if error.is_resumable() => (false, NodeActivity::Paused),
            Err(_) => (true, NodeActivity::Failed),
        };
        for node in live.nodes.all() {
            if node.state.is_final() {
                continue;
            }
            if ends {
                self.run.end(&node.node, node.kind, state).await?;
            } else if live.nodes.set_state(&node.node, state) {
                live.recorder.record(RunEvent::AgentStatusChanged {
                    node: node.node,
                    kind: node.kind,
                    status: state,
                });
            }
        }
        Ok(())
    }
}

impl<W: Workflow> Run<W> {
    /// Ends an agent, and notifies those who asked something of it alone.
    pub(super) async fn end(
        &self,
        node: &NodeId,
        kind: &'static str,
        state: NodeActivity,
    ) -> Result<(), RunError> {
        let live = &self.shared.live;
        live.spans.agent_ended(node, state == NodeActivity::Failed);
        if live.nodes.end(node, state) {
            live.recorder.record(RunEvent::AgentFinished {
                node: node.clone(),
                kind,
                status: state,
            });
        }
        let given_up = live.reroutes.node_ended(live.run, node).await?;
        self.tell_ended(given_up).await?;
        Ok(live.settle_stops_of(node).await?)
    }

    /// Notifies the observer and the bus of the end of events that no decision used.
    pub(super) async fn tell_ended(&self, events: Vec<EventId>) -> Result<(), RunError> {
        for (event, state) in self.shared.live.tell_ended(events).await? {
            let changed = BusEvent::RerouteChanged { event, state };
            self.shared.bus.announce(changed);
        }
        Ok(())
    }
}

/// What a workflow says of itself, for viewers of its runs.
///
/// # Errors
///
/// [`WorkflowMistake`] names what no store keeps.
pub fn catalogue_of<W: Workflow>() -> Result<SharedCatalogue, WorkflowMistake> {
    let draft = CatalogueDraft::of::<W::Kind, W::Routing>(WorkflowName::new(W::NAME)?)?;
    Ok(SharedCatalogue::new(draft.check()?))
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        KeepError::from(error).into()
    }
}
