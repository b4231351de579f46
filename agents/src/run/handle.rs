//! A run: prepared, reachable while it runs, and executed once.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use interrupt_router::bus::EventBus;
use interrupt_router::model::LanguageModel as _;
use interrupt_router::{Route, RunId, StopScope};
use tokio::sync::Mutex;

use super::goal::Goal;
use crate::agent_kind::AgentKind;
use crate::records::{NonEmptyText, OrchestratorRequest, OrchestratorRoute, Phase};
use crate::workflow::agents_run::AgentsRun;
use crate::workflow::failure::FlowError;
use crate::workflow::flow::{Flow, FlowEnd, FlowRole, Next, Planner};
use crate::workflow::plan::planner;
use crate::workspace::Workspace;
use engine::durable::replay::Replay;
use engine::durable::reroutes::StoreReroutes;
use engine::run::{NodeDirectory, RunEnd, RunEvent, RunInbox, RunReport, RunSettings, RunStart};
use llm::SupervisorStep;

/// A run. During its execution, its bus accepts events and its directory lists its nodes.
pub struct RunHandle {
    engine: Arc<AgentsRun>,
}

/// The fourteen agents, at work on a goal.
#[derive(Debug, Clone)]
pub struct AgentsWorkflow {
    /// What they shall do.
    pub goal: Goal,
    /// The folder that they speak about.
    pub workspace: Workspace,
    /// What a scripted supervisor publishes, and when.
    pub supervisor_steps: Vec<SupervisorStep>,
}

impl AgentsWorkflow {
    /// The agents, with no scripted supervisor.
    pub const fn new(goal: Goal, workspace: Workspace) -> Self {
        Self {
            goal,
            workspace,
            supervisor_steps: Vec::new(),
        }
    }

    /// A run of it. Nothing is done yet.
    pub fn run(self, settings: RunSettings) -> RunHandle {
        RunHandle {
            engine: Arc::new(AgentsRun::new(self, settings)),
        }
    }
}

impl RunHandle {
    /// The run's id.
    pub fn id(&self) -> RunId {
        self.engine.run
    }

    /// Where supervisors publish events for the run's nodes.
    pub fn bus(&self) -> Arc<EventBus<AgentKind>> {
        Arc::clone(&self.engine.bus)
    }

    /// The run's nodes and what each does.
    pub fn nodes(&self) -> Arc<NodeDirectory> {
        Arc::clone(&self.engine.nodes)
    }

    /// The reroutes of the events that were published.
    pub fn reroutes(&self) -> Arc<StoreReroutes> {
        Arc::clone(&self.engine.reroutes)
    }

    /// Delivers what comes from outside to the run's nodes, for the task that takes it from the store.
    pub fn inbox(&self) -> RunInbox {
        RunInbox::of(Arc::clone(&self.engine.live))
    }

    /// Executes the run from its start or its last checkpoint, and reports how it ended. All that it started has ended
    /// then, and what the report says is recorded.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all work of the run at once and reports nothing; what was recorded is kept, and the run
    /// can be resumed. Stop `scope` instead.
    pub async fn execute(self, scope: &StopScope) -> RunReport {
        let engine = &self.engine;
        let work = async |start| run_end(drive_through(engine, start, scope).await?);
        engine.live.execute("agents", scope, work).await
    }
}

/// How the run's own flow ended, for its run.
fn run_end(end: FlowEnd) -> Result<RunEnd, FlowError> {
    Ok(match end {
        FlowEnd::Completed(summary) => RunEnd::Completed(summary),
        FlowEnd::Stopped(reason) | FlowEnd::Pruned(reason) => RunEnd::Stopped(reason),
        FlowEnd::Interrupted(reason) => RunEnd::Interrupted(reason),
        FlowEnd::Waiting => RunEnd::Waiting,
        FlowEnd::WorkerDone(_) | FlowEnd::Leaves(_) | FlowEnd::Halted => {
            return Err(FlowError::Lost {
                detail: "the run's own flow ended like a worker's",
            });
        }
    })
}

/// Runs the main flow from its first request on.
async fn drive_through(
    engine: &Arc<AgentsRun>,
    start: RunStart,
    scope: &StopScope,
) -> Result<FlowEnd, FlowError> {
    engine.take_undelivered(start).await?;
    engine.recorder.record_since(
        RunEvent::Started {
            goal: engine.goal.as_str().to_owned(),
            model: engine.model.name().to_owned(),
            workspace: engine.workspace.name().to_owned(),
        },
        engine.journal.last(),
    );
    match planner() {
        Ok(planner) => drive(engine, Arc::new(planner), scope).await,
        Err(_taken) => Err(FlowError::Lost {
            detail: "two actions take the same request",
        }),
    }
}

/// Runs the main flow to its end.
async fn drive(
    engine: &Arc<AgentsRun>,
    planner: Arc<Planner>,
    scope: &StopScope,
) -> Result<FlowEnd, FlowError> {
    let flow = Arc::new(Flow {
        engine: Arc::clone(engine),
        planner,
        role: FlowRole::Main,
        worker: None,
        began: 0,
        turns: AtomicU64::new(0),
        path: Mutex::default(),
    });
    let running = Arc::clone(&flow);
    let replay = Replay::since(engine.journal.last());
    let work = replay.around(async move {
        match first_request(&running) {
            Ok(next) => running.run(next).await,
            Err(error) => Err(error),
        }
    });
    let end = engine.work(work, scope).await;
    flow.settle(&end).await?;
    end
}

/// The request with which every run begins.
fn first_request(flow: &Flow) -> Result<Next, FlowError> {
    Ok(Next::routing(OrchestratorRoute::wrap(
        OrchestratorRequest {
            goal: NonEmptyText::new(flow.engine.goal.as_str()).map_err(FlowError::of_workflow)?,
            phase: Some(Phase::Discovery.name().to_owned()),
            feedback: None,
        },
    )))
}
