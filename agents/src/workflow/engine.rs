//! What all flows of a run share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use llm::SupervisorStep;
use routing_core::ask::Asker;

use routing_core::bus::{BusEvent, DEFAULT_BACKLOG, EventBus, InProcessBus, RerouteDesk};
use routing_core::context::DecoratorChain;
use routing_core::handler::{HandlerConfig, UnifiedInterruptHandler};
use routing_core::reroute::{InMemoryReroutes, PendingReroutes};
use routing_core::{Blackboard, Clock, EventId, RunId};

use super::failure::FlowError;
use crate::agent_kind::AgentKind;
use crate::records::{
    DiscoveryCollectorResult, InterruptRequest, InterruptRouting, PlanningCollectorResult,
    Summaries, TicketCollectorResult,
};
use crate::run::ledger::Ledger;
use crate::run::metered_model::MeteredModel;
use crate::run::recorder::Recorder;
use crate::run::reroute_log::{RerouteLog, words};
use crate::run::stoppable_reviewer::StoppableReviewer;
use crate::run::{Goal, NodeDirectory, RunConfig, RunEvent, RunLimits};
use crate::workspace::Workspace;

/// What all flows of a run share.
pub(crate) struct Engine {
    pub(crate) run: RunId,
    pub(crate) goal: Goal,
    pub(crate) workspace: Workspace,
    pub(crate) limits: RunLimits,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) model: Arc<MeteredModel>,
    pub(crate) asker: Asker,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) nodes: Arc<NodeDirectory>,
    pub(crate) reroutes: Arc<dyn PendingReroutes<AgentKind>>,
    pub(crate) reroute_log: Arc<RerouteLog>,
    pub(crate) bus: Arc<InProcessBus<AgentKind>>,
    pub(crate) blackboard: Blackboard,
    pub(crate) handler: UnifiedInterruptHandler<InterruptRequest, InterruptRouting>,
    pub(crate) ledger: Arc<Ledger>,
    /// Where workers were sent that left their dispatch node, as far as the run has not gone there yet.
    later: Mutex<VecDeque<InterruptRouting>>,
    script: Mutex<Vec<SupervisorStep>>,
    steps: Mutex<u32>,
    /// Set once the run comes to an end for one flow: the others finish their step and end too.
    halting: AtomicBool,
}

/// The way of supervisors' events into the run.
struct Bus {
    bus: Arc<InProcessBus<AgentKind>>,
    reroutes: Arc<dyn PendingReroutes<AgentKind>>,
    reroute_log: Arc<RerouteLog>,
}

impl Bus {
    fn over(nodes: &Arc<NodeDirectory>, recorder: &Arc<Recorder>, clock: &Arc<dyn Clock>) -> Self {
        let reroutes: Arc<dyn PendingReroutes<AgentKind>> =
            Arc::new(InMemoryReroutes::<AgentKind>::default());
        let desk = RerouteDesk::new(
            Arc::clone(nodes) as Arc<_>,
            Arc::clone(&reroutes),
            Arc::clone(nodes) as Arc<_>,
            Arc::clone(clock),
        );
        let reroute_log = Arc::new(RerouteLog::new(
            desk,
            Arc::clone(&reroutes),
            Arc::clone(recorder),
        ));
        let admission = Arc::clone(&reroute_log) as Arc<_>;
        Self {
            bus: Arc::new(InProcessBus::new(admission, DEFAULT_BACKLOG)),
            reroutes,
            reroute_log,
        }
    }
}

impl Engine {
    pub(crate) fn new(config: RunConfig) -> Self {
        let RunConfig {
            run,
            goal,
            workspace,
            model,
            constraints,
            reviewer,
            observer,
            supervisor_steps,
            limits,
            policy,
            clock,
        } = config;
        let recorder = Arc::new(Recorder::new(run, Arc::clone(&clock), observer));
        let nodes = Arc::new(NodeDirectory::new(run));
        let Bus {
            bus,
            reroutes,
            reroute_log,
        } = Bus::over(&nodes, &recorder, &clock);
        let model = Arc::new(MeteredModel::new(model));
        let asker = Asker {
            model: Arc::clone(&model) as Arc<_>,
            constraints,
            corrections: limits.corrections,
        };
        let ledger = Arc::new(Ledger::new(Arc::clone(&recorder), Arc::clone(&nodes)));
        let handler = UnifiedInterruptHandler::new(HandlerConfig {
            asker: asker.clone(),
            reviewing_model: asker.clone(),
            reviewer: Arc::new(StoppableReviewer { inner: reviewer }),
            reroutes: Arc::clone(&reroutes),
            decorators: DecoratorChain::default(),
            observer: Arc::clone(&ledger) as Arc<_>,
            clock: Arc::clone(&clock),
            policy,
        });
        Self {
            run,
            goal,
            workspace,
            limits,
            clock,
            model,
            asker,
            recorder,
            nodes,
            reroutes,
            reroute_log,
            bus,
            blackboard: Blackboard::new(),
            handler,
            ledger,
            later: Mutex::default(),
            script: Mutex::new(supervisor_steps),
            steps: Mutex::new(0),
            halting: AtomicBool::new(false),
        }
    }

    /// The number of the next step.
    pub(crate) fn next_step(&self) -> Result<u32, FlowError> {
        let limit = self.limits.max_steps;
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if *steps >= limit {
            return Err(FlowError::StepLimit { limit });
        }
        *steps += 1;
        Ok(*steps)
    }

    /// How many steps were taken.
    pub(crate) fn steps(&self) -> u32 {
        *self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run for all flows, at their next boundary.
    pub(crate) fn halt(&self) {
        self.halting.store(true, Ordering::SeqCst);
    }

    /// Whether the run comes to an end.
    pub(crate) fn is_halting(&self) -> bool {
        self.halting.load(Ordering::SeqCst)
    }

    /// The first scripted step that this test picks, taken out of the script.
    pub(crate) fn take_scripted(
        &self,
        fits: impl Fn(&SupervisorStep) -> bool,
    ) -> Option<SupervisorStep> {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let at = script.iter().position(fits)?;
        Some(script.remove(at))
    }

    /// Keeps a way to go for when the run would otherwise end.
    pub(crate) fn go_later(&self, routing: InterruptRouting) {
        self.later
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(routing);
    }

    /// A way that is still to go.
    pub(crate) fn take_later(&self) -> Option<InterruptRouting> {
        self.later
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    }

    /// What the collectors of the finished phases have said.
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

    /// Gives up the events that have waited too long.
    pub(crate) async fn expire(&self) -> Result<(), FlowError> {
        let expired = self.reroutes.expire(self.clock.now()).await?;
        self.tell_ended(expired).await
    }

    /// Tells the observer and the bus what became of events that no decision used.
    pub(crate) async fn tell_ended(&self, events: Vec<EventId>) -> Result<(), FlowError> {
        for event in events {
            let Some(stored) = self.reroutes.fate(&event).await? else {
                continue;
            };
            self.recorder.record(RunEvent::EventEnded {
                event: event.clone(),
                state: words(&stored.state),
            });
            self.bus.announce(BusEvent::RerouteChanged {
                event,
                state: stored.state,
            });
        }
        Ok(())
    }
}
