//! A run of the fourteen node types: what its flows share beyond what every run has.

use std::collections::{HashMap, VecDeque};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::run::{CheckpointContent, Kinds, LiveRun, RunSettings, WorkflowParts};
use interrupt_router::bus::{BusEvent, DEFAULT_BACKLOG, EventBus};
use interrupt_router::handler::{Branches, UnifiedInterruptHandler};
use interrupt_router::{Blackboard, EventId, NodeId};
use llm::SupervisorStep;

use super::failure::FlowError;
use super::flow::FlowEnd;
use crate::agent_kind::AgentKind;
use crate::catalogue::of_workflow;
use crate::records::{
    DiscoveryCollectorResult, InterruptRequest, InterruptRouting, PlanningCollectorResult,
    Summaries, TicketCollectorResult,
};
use crate::run::{AgentsWorkflow, Goal};
use crate::workspace::Workspace;
use journal::Workflow;

/// What all flows of a run share.
pub(crate) struct AgentsRun {
    pub(crate) live: Arc<LiveRun>,
    pub(crate) goal: Goal,
    pub(crate) workspace: Workspace,
    pub(crate) blackboard: Blackboard,
    pub(crate) handler: UnifiedInterruptHandler<InterruptRequest, InterruptRouting>,
    pub(crate) bus: Arc<EventBus<AgentKind>>,
    /// Targets of workers that left their dispatch node, as far as the run has not gone there yet.
    later: Mutex<VecDeque<InterruptRouting>>,
    script: Mutex<Vec<(usize, SupervisorStep)>>,
    /// How agents ended that a node's tools launched, so that the node's step ends there.
    launched: Mutex<HashMap<NodeId, FlowEnd>>,
}

/// Gives access to what all runs share.
impl Deref for AgentsRun {
    type Target = LiveRun;

    fn deref(&self) -> &LiveRun {
        &self.live
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is one insertion or removal, so a panic elsewhere leaves it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AgentsRun {
    pub(crate) fn new(workflow: AgentsWorkflow, settings: RunSettings) -> Self {
        let AgentsWorkflow {
            goal,
            workspace,
            supervisor_steps,
        } = workflow;
        let parts = WorkflowParts {
            kinds: Kinds::of::<AgentKind>(),
            catalogue: of_workflow(&Workflow::Agents),
            checkpoints: CheckpointContent::Agents,
        };
        let live = Arc::new(LiveRun::new(parts, settings));
        let admission = Arc::clone(&live.reroute_log) as Arc<_>;
        Self {
            // A run with a store has checkpoints to fork from.
            handler: live.handler(Branches::Forked),
            bus: Arc::new(EventBus::new(admission, DEFAULT_BACKLOG)),
            live,
            goal,
            workspace,
            blackboard: Blackboard::new(),
            later: Mutex::default(),
            script: Mutex::new(supervisor_steps.into_iter().enumerate().collect()),
            launched: Mutex::default(),
        }
    }

    /// The first scripted step that this test picks, removed from the script, and its place in it.
    pub(crate) fn take_scripted(
        &self,
        fits: impl Fn(&SupervisorStep) -> bool,
    ) -> Option<(usize, SupervisorStep)> {
        let mut script = locked(&self.script);
        let at = script.iter().position(|(_, step)| fits(step))?;
        Some(script.remove(at))
    }

    /// Keeps a route to take when the run would otherwise end.
    pub(crate) fn go_later(&self, routing: InterruptRouting) {
        locked(&self.later).push_back(routing);
    }

    /// Takes a route that was kept for later.
    pub(crate) fn take_later(&self) -> Option<InterruptRouting> {
        locked(&self.later).pop_front()
    }

    /// Records that an agent launched by a node's tools ended so that the node cannot continue. The gravest end is
    /// kept.
    pub(crate) fn launched_ended(&self, launcher: &NodeId, end: FlowEnd) {
        let mut launched = locked(&self.launched);
        let known = launched.get(launcher);
        if known.is_none_or(|known| gravity(&end) > gravity(known)) {
            launched.insert(launcher.clone(), end);
        }
    }

    /// How the agent ended that a node's tools launched.
    pub(crate) fn take_launched(&self, launcher: &NodeId) -> Option<FlowEnd> {
        locked(&self.launched).remove(launcher)
    }

    /// The summaries of the finished phases' collectors.
    pub(crate) fn summaries(&self) -> Summaries {
        let board = &self.blackboard;
        Summaries {
            discovery: board
                .last::<DiscoveryCollectorResult>()
                .map(|result| result.summary.clone()),
            planning: board
                .last::<PlanningCollectorResult>()
                .map(|result| result.summary.clone()),
            ticket: board
                .last::<TicketCollectorResult>()
                .map(|result| result.summary.clone()),
        }
    }

    /// Expires the events that have waited too long.
    pub(crate) async fn expire(&self) -> Result<(), FlowError> {
        let expired = self.reroutes.expire().await?;
        self.tell_ended(expired).await
    }

    /// Reports to the observer and the bus how events ended that no decision used.
    pub(crate) async fn tell_ended(&self, events: Vec<EventId>) -> Result<(), FlowError> {
        for (event, state) in self.live.tell_ended(events).await? {
            self.bus.announce(BusEvent::RerouteChanged { event, state });
        }
        Ok(())
    }
}

/// Which of several ends says most about the run.
const fn gravity(end: &FlowEnd) -> u8 {
    match end {
        FlowEnd::Interrupted(_) => 4,
        FlowEnd::Stopped(_) => 3,
        FlowEnd::Waiting => 2,
        FlowEnd::Halted => 1,
        FlowEnd::Completed(_)
        | FlowEnd::WorkerDone(_)
        | FlowEnd::Pruned(_)
        | FlowEnd::Leaves(_) => 0,
    }
}
