//! Agents that other agents launch: nodes of the run's tree like all others, below the one that launched them.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use interrupt_router::model::ModelCaller;
use interrupt_router::{AgentType as _, NodeId, Outcome, ParseIdError, StopReason};
use tools::{LaunchRequest, LaunchedAgent, Launcher, LauncherError, ToolContext};

use crate::agent_kind::AgentKind;
use crate::records::{
    DiscoveryAgentRequest, DiscoveryAgentRequests, NonEmptyText, PlanningAgentRequest,
    PlanningAgentRequests, TicketAgentRequest, TicketAgentRequests,
};
use crate::workflow::agents_run::AgentsRun;
use crate::workflow::dispatch::{Launch, launch};
use crate::workflow::failure::FlowError;
use crate::workflow::flow::{FlowEnd, Planner};
use engine::durable::model::end_of_what_was_recorded;
use engine::durable::replay::Replay;
use engine::tools::{Ground, LaunchRound};
use journal::error::KeepError;

/// The kinds of agents that can be launched: those that do work of their own.
const LAUNCHED: [AgentKind; 3] = [
    AgentKind::DiscoveryAgent,
    AgentKind::PlanningAgent,
    AgentKind::TicketAgent,
];

/// The beginning of the last segment of a launched agent's id.
const SEGMENT: &str = "launched-";

/// What a launching agent runs on: the run, and how far its own flow has come.
#[derive(Clone)]
pub(super) struct LaunchContext {
    pub(super) engine: Weak<AgentsRun>,
    pub(super) planner: Arc<Planner>,
    /// The turn of the run's own flow.
    pub(super) main: u64,
}

#[async_trait]
impl Ground for LaunchContext {
    fn launcher(&self, round: LaunchRound, most_depth: u32) -> Option<Arc<dyn Launcher>> {
        (depth(&round.caller.node) < most_depth).then(|| {
            Arc::new(RunLauncher {
                ground: self.clone(),
                round,
            }) as Arc<_>
        })
    }

    async fn keep_nodes(&self) -> Result<(), KeepError> {
        match self.engine.upgrade() {
            Some(engine) => engine.keep_nodes().await,
            None => Ok(()),
        }
    }
}

/// Launches agents for the calls of one round.
struct RunLauncher {
    ground: LaunchContext,
    round: LaunchRound,
}

/// How many of the agents from the root down to this node were launched, itself included.
fn depth(node: &NodeId) -> u32 {
    let launched = node.as_str().split('/');
    let launched = launched.filter(|segment| segment.starts_with(SEGMENT));
    u32::try_from(launched.count()).unwrap_or(u32::MAX)
}

fn refused(reason: impl Into<String>) -> LauncherError {
    LauncherError {
        reason: reason.into(),
    }
}

impl RunLauncher {
    /// The node of the agent that a call launches: the same one in every replay.
    fn node(&self, index: usize) -> Result<NodeId, ParseIdError> {
        let ModelCaller {
            node,
            turn,
            correction,
            ..
        } = &self.round.caller;
        let round = self.round.round;
        node.child(&format!("{SEGMENT}{turn}-{correction}-{round}-{index}"))
    }

    async fn run(
        &self,
        engine: Arc<AgentsRun>,
        request: &LaunchRequest,
        index: usize,
    ) -> Result<FlowEnd, FlowError> {
        let id = self.node(index)?;
        let task = NonEmptyText::new(request.task.as_str()).map_err(FlowError::of_workflow)?;
        let journal = Arc::clone(&engine.journal);
        // One that has run before begins with what was recorded of it.
        let recorded = journal.start_of(&id, 1).and(journal.last());
        let how = Launch {
            engine,
            planner: Arc::clone(&self.ground.planner),
            began: self.ground.main,
            number: index + 1,
            id,
        };
        let kind = LAUNCHED.iter().find(|kind| kind.name() == request.agent);
        let flow = async {
            match kind {
                Some(AgentKind::DiscoveryAgent) => {
                    let work = DiscoveryAgentRequest {
                        goal: task,
                        subdomain_focus: String::new(),
                    };
                    launch::<DiscoveryAgentRequests>(how, work).await
                }
                Some(AgentKind::PlanningAgent) => {
                    let work = PlanningAgentRequest { goal: task };
                    launch::<PlanningAgentRequests>(how, work).await
                }
                Some(_) | None => {
                    let work = TicketAgentRequest {
                        ticket_details: task,
                        ticket_details_file_path: None,
                    };
                    launch::<TicketAgentRequests>(how, work).await
                }
            }
        };
        Replay::since(recorded).around(flow).await
    }

    /// The launcher cannot continue after the agent's end: its call waits until the run continues.
    fn parked(
        &self,
        call: &str,
        node: Option<NodeId>,
        end: FlowEnd,
        reason: StopReason,
    ) -> Outcome<LaunchedAgent, LaunchedAgent> {
        self.round.park(call);
        if let Some(engine) = self.ground.engine.upgrade() {
            engine.launched_ended(&self.round.caller.node, end);
        }
        let answer = "it goes on with the run".to_owned();
        Outcome::Interrupted {
            reason,
            partial: LaunchedAgent { node, answer },
        }
    }

    fn outcome(
        &self,
        engine: &AgentsRun,
        call: &str,
        node: Option<NodeId>,
        end: Result<FlowEnd, FlowError>,
    ) -> Result<Outcome<LaunchedAgent, LaunchedAgent>, LauncherError> {
        let done = |answer: String| {
            Ok(Outcome::Completed(LaunchedAgent {
                node: node.clone(),
                answer,
            }))
        };
        match end {
            Ok(FlowEnd::WorkerDone(result)) => done(result.to_string()),
            Ok(FlowEnd::Completed(summary)) => done(summary),
            Ok(FlowEnd::Pruned(reason)) => Err(refused(format!("it was cut off: {reason}"))),
            Ok(FlowEnd::Leaves(routing)) => {
                engine.go_later(*routing);
                Err(refused(
                    "its interrupt was sent elsewhere, and it has ended",
                ))
            }
            Ok(FlowEnd::Interrupted(reason)) => {
                let end = FlowEnd::Interrupted(reason.clone());
                Ok(self.parked(call, node, end, reason))
            }
            Ok(end @ (FlowEnd::Stopped(_) | FlowEnd::Waiting | FlowEnd::Halted)) => {
                Ok(self.parked(call, node, end, end_of_what_was_recorded()))
            }
            Err(FlowError::Keep(error)) => Err(refused(self.round.fail(call, error))),
            Err(error) if error.is_of_the_store() => {
                let detail = error.chain();
                self.round.fail(call, KeepError::Launched { detail });
                Err(refused("the run cannot be recorded"))
            }
            Err(error) => Err(refused(error.chain())),
        }
    }
}

#[async_trait]
impl Launcher for RunLauncher {
    fn agents(&self) -> Vec<String> {
        let names = LAUNCHED.iter().map(|kind| kind.name());
        names.map(str::to_owned).collect()
    }

    async fn launch(
        &self,
        request: LaunchRequest,
        context: &ToolContext,
    ) -> Result<Outcome<LaunchedAgent, LaunchedAgent>, LauncherError> {
        let call = request.call.as_ref().map_or("", |call| call.as_str());
        let Some(index) = self.round.ids.iter().position(|known| known == call) else {
            return Err(refused("the call is none that was asked for"));
        };
        let Some(engine) = self.ground.engine.upgrade() else {
            return Err(refused("the run is over"));
        };
        // People may be asked below it, and its own calls have their own time limits.
        let _pause = context.limit.pause();
        let end = self.run(Arc::clone(&engine), &request, index).await;
        self.outcome(&engine, call, self.node(index).ok(), end)
    }
}
