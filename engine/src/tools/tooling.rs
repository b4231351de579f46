//! The tools of one run: what each agent is offered, and the rounds in which they are used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interrupt_router::model::{Dialect, Message, ModelCaller, ModelError, ToolOffer, ToolRequest};
use interrupt_router::review::Reviewer;
use interrupt_router::{NodeId, StopScope};
use interrupts::Clock;
use interrupts::{EffectId, IdempotencyKey};
use tools::{
    CallEnd, CallLimits, ControllerConfig, Executor, ExecutorConfig, InterruptController,
    LaunchAgent, Launcher, NoProgress, Requested, RequestedCall, ToolCall, ToolMessage, ToolName,
    ToolRegistry, TurnEnd,
};

use super::approver::StoreApprover;
use super::asking::{AskingNode, ToolQuestions};
use super::events::CallEvents;
use super::exchange::Exchanges;
use super::launching::{Ground, LaunchRound};
use super::offering::Offering;
use super::round::{RoundEnd, RoundState, calls_of};
use super::settings::AgentTools;
use super::tool_journal::ToolJournal;
use crate::durable::journal::RunJournal;
use crate::durable::model::end_of_what_was_recorded;
use crate::run::RunEvent;
use crate::run::open_interrupts::OpenInterrupts;
use crate::run::recorder::Recorder;
use journal::error::KeepError;
use journal::place;

pub use super::round::Parked;

/// The tool with which agents launch agents.
pub(super) const LAUNCH: &str = "launch_agent";

/// What the tools of a run are made of.
#[doc(hidden)]
pub struct ToolingParts {
    pub settings: AgentTools,
    pub journal: Arc<RunJournal>,
    pub recorder: Arc<Recorder>,
    pub reviewer: Arc<dyn Reviewer>,
    /// Keeps the interrupts of the run.
    pub open_interrupts: Arc<OpenInterrupts>,
    pub clock: Arc<dyn Clock>,
}

/// The tools of one run.
#[doc(hidden)]
pub struct Tooling {
    pub(super) settings: AgentTools,
    pub(super) journal: Arc<RunJournal>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) questions: ToolQuestions,
    pub(super) exchanges: Exchanges,
    clock: Arc<dyn Clock>,
    /// Whether a note about tools that cannot be offered was sent.
    noted: AtomicBool,
    /// The calls that run.
    running: Mutex<Vec<RunningCall>>,
    /// How often calls have asked each question while they ran.
    question_counts: Mutex<HashMap<String, u32>>,
    /// Why steps ended within their tools, until their flows have read it.
    parked: Mutex<HashMap<NodeId, Parked>>,
    /// The workflows of agents that may launch others.
    grounds: Mutex<HashMap<NodeId, Arc<dyn Ground>>>,
}

/// A call that runs.
#[derive(Clone)]
pub(super) struct RunningCall {
    pub(super) call: ToolCall,
    pub(super) asker: AskingNode,
    pub(super) place: String,
    /// The round that it is of.
    pub(super) state: Arc<RoundState>,
}

/// One round of one agent's step.
#[doc(hidden)]
pub struct Round<'a> {
    pub caller: &'a ModelCaller,
    pub number: u32,
    pub requests: &'a [ToolRequest],
    pub scope: &'a StopScope,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every change is one insertion or removal, so a panic elsewhere leaves it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[doc(hidden)]
impl Tooling {
    pub fn new(parts: ToolingParts) -> Arc<Self> {
        let elicitor = parts.settings.elicitor.clone();
        let tooling = Arc::new(Self::of(parts));
        if let Some(elicitor) = elicitor {
            elicitor.serve(&tooling);
        }
        tooling
    }

    /// How many rounds of tools an agent has in one answer before it must give it.
    pub const fn rounds(&self) -> u32 {
        self.settings.rounds
    }

    fn of(parts: ToolingParts) -> Self {
        let ToolingParts {
            settings,
            journal,
            recorder,
            reviewer,
            open_interrupts,
            clock,
        } = parts;
        let record = Arc::clone(&journal.record);
        Self {
            settings,
            questions: ToolQuestions::new(record, reviewer, Arc::clone(&recorder), open_interrupts),
            journal,
            recorder,
            exchanges: Exchanges::default(),
            clock,
            noted: AtomicBool::new(false),
            running: Mutex::default(),
            question_counts: Mutex::default(),
            parked: Mutex::default(),
            grounds: Mutex::default(),
        }
    }

    /// Sets the workflow of a node whose step begins: from now on it may launch agents.
    pub fn stand(&self, node: &NodeId, ground: Arc<dyn Ground>) {
        locked(&self.grounds).insert(node.clone(), ground);
    }

    /// Why the node's step ended within its tools, if it did.
    pub fn take_parked(&self, node: &NodeId) -> Option<Parked> {
        locked(&self.parked).remove(node)
    }

    /// The tool requests and results of the node's model in the step that is over.
    pub fn take_exchanged(&self, node: &NodeId) -> Vec<Message> {
        self.exchanges.take(node)
    }

    /// A call runs from now on.
    pub(super) fn runs(&self, running: RunningCall) {
        locked(&self.running).push(running);
    }

    /// The call at a place has ended.
    pub(super) fn has_ended(&self, place: &str) {
        locked(&self.running).retain(|running| running.place != place);
    }

    /// The running calls that a server may ask for: the one that it names, else all of its tools.
    pub(super) fn running(&self, named: Option<&ToolCall>, server: &str) -> Vec<RunningCall> {
        let running = locked(&self.running);
        let of_server = format!("{server}__");
        let is_meant = |running: &&RunningCall| match named {
            Some(call) => running.call == *call,
            None => running.call.tool.as_str().starts_with(&of_server),
        };
        running.iter().filter(is_meant).cloned().collect()
    }

    /// How often a question was asked so far in this process. A repeated call asks the same again, and finds the
    /// earlier answer.
    pub(super) fn asked_again(&self, question: &str) -> u32 {
        let mut questions = locked(&self.question_counts);
        let number = questions.entry(question.to_owned()).or_default();
        *number += 1;
        *number
    }

    /// The tools that an agent is offered, including its launcher if it has one.
    fn registry(&self, caller: &ModelCaller, launcher: Option<Arc<dyn Launcher>>) -> ToolRegistry {
        let mut registry = self.settings.registry.clone();
        if let Some(servers) = &self.settings.servers
            && let Err(error) = servers.put_into(&mut registry)
        {
            tracing::warn!(%error, "not all tools of servers are offered");
        }
        let offered = |name: &str| self.settings.access.offers(caller.agent_type, name);
        let specs = registry.specs().into_iter();
        let names: Vec<String> = specs.map(|spec| spec.name.as_str().to_owned()).collect();
        for name in names.iter().filter(|name| !offered(name)) {
            registry.remove(name);
        }
        if let Some(launcher) = launcher.filter(|_launcher| offered(LAUNCH)) {
            let tool = LaunchAgent::resumable(launcher);
            if let Err(error) = registry.register(Arc::new(tool)) {
                tracing::warn!(%error, "agents cannot launch agents");
            }
        }
        registry
    }

    fn launcher(
        &self,
        caller: &ModelCaller,
        number: u32,
        ids: Vec<String>,
        state: &Arc<RoundState>,
    ) -> Option<Arc<dyn Launcher>> {
        let ground = locked(&self.grounds).get(&caller.node).cloned()?;
        let round = LaunchRound {
            caller: caller.clone(),
            round: number,
            ids,
            state: Arc::clone(state),
        };
        ground.launcher(round, self.settings.launch_depth)
    }

    /// The tools that an agent's model is offered, as many as its provider takes.
    pub(super) fn offers_for(&self, caller: &ModelCaller, dialect: Dialect) -> Arc<[ToolOffer]> {
        let servers = self.settings.servers.as_ref();
        let place = |tool: &str| servers.and_then(|servers| servers.place_of(tool));
        let offering = Offering::of(self.offers(caller).to_vec(), dialect, place);
        if let Some(note) = offering.note()
            && !self.noted.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(agent = caller.agent_type, "{note}");
        }
        offering.offers.into()
    }

    /// The tools that an agent may use.
    pub(super) fn offers(&self, caller: &ModelCaller) -> Arc<[ToolOffer]> {
        let launcher = self.launcher(caller, 0, Vec::new(), &Arc::default());
        let registry = self.registry(caller, launcher);
        let specs = registry.specs().into_iter();
        specs
            .map(|spec| ToolOffer {
                name: spec.name.as_str().to_owned(),
                description: spec.description.clone(),
                arguments: spec.arguments.clone(),
            })
            .collect()
    }

    /// Whether each call of a round has ended before, and that is recorded.
    fn all_known(&self, asked_at: &str, calls: &[RequestedCall]) -> Result<bool, KeepError> {
        for (index, _call) in calls.iter().enumerate() {
            let at = place::tool_call(asked_at, index);
            if !self.journal.is_answered(&at)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Does what a model asked for at once: each call runs now, or ran before, or waits with the run.
    pub async fn round(self: &Arc<Self>, round: Round<'_>) -> Result<RoundEnd, ModelError> {
        let unrecorded = |error: KeepError| ModelError::Unrecorded(Box::new(error));
        let Round {
            caller,
            number,
            requests,
            scope,
        } = round;
        let asked_at = place::in_round(&self.journal.call_place(caller), number);
        let calls = calls_of(requests);
        if !self.all_known(&asked_at, &calls).map_err(unrecorded)?
            && scope.is_stopping()
            && let Some(reason) = scope.reason()
        {
            // Nothing of the round has begun: all of it goes on with the run.
            return Ok(RoundEnd::Ends(reason));
        }
        let state = Arc::<RoundState>::default();
        let executor = self.executor(caller, number, &asked_at, &calls, scope, &state);
        let deferred = || {
            let node = caller.node.clone();
            self.recorder.record(RunEvent::StopDeferred { node });
        };
        let executed = execute(&executor, calls, scope, deferred).await;
        if let Some(error) = state.take_failure() {
            return Err(unrecorded(error));
        }
        match executed {
            Ok(TurnEnd {
                interrupted: Some(reason),
                ..
            }) => Ok(RoundEnd::Ends(reason)),
            Ok(TurnEnd { messages, .. }) => {
                let paused = self.pause_after_denials(caller, &asked_at, &messages).await;
                paused.map_err(unrecorded)?;
                Ok(RoundEnd::Done(messages))
            }
            Err(error) => match (state.take_parked(), scope.reason()) {
                (Some(parked), _) => {
                    locked(&self.parked).insert(caller.node.clone(), parked);
                    Ok(RoundEnd::Ends(end_of_what_was_recorded()))
                }
                (None, Some(reason)) => Ok(RoundEnd::Ends(reason)),
                (None, None) => Err(ModelError::Unrecorded(Box::new(error))),
            },
        }
    }

    /// Pauses the run for each call that was denied by a rule which wants that. What was asked for before, by a process that
    /// has died or a run that was resumed, is not asked for again.
    async fn pause_after_denials(
        &self,
        caller: &ModelCaller,
        asked_at: &str,
        messages: &[ToolMessage],
    ) -> Result<(), KeepError> {
        let record = &self.journal.record;
        for (index, message) in messages.iter().enumerate() {
            let (
                CallEnd::Denied {
                    reason,
                    pauses: true,
                },
                Some(control),
            ) = (&message.end, &record.kept.control)
            else {
                continue;
            };
            let effect = EffectId::in_run(caller.run, &place::tool_call(asked_at, index));
            let key = IdempotencyKey::new(format!("denied:{effect}"))?;
            if record.store().interrupt_of(&key).await?.is_none() {
                control.pause_after_denial(key, reason).await;
            }
        }
        Ok(())
    }

    fn executor(
        self: &Arc<Self>,
        caller: &ModelCaller,
        number: u32,
        asked_at: &str,
        calls: &[RequestedCall],
        scope: &StopScope,
        state: &Arc<RoundState>,
    ) -> Executor {
        let settings = &self.settings;
        let ids: Vec<String> = calls
            .iter()
            .map(|call| call.id.as_str().to_owned())
            .collect();
        let launcher = self.launcher(caller, number, ids.clone(), state);
        let registry = self.registry(caller, launcher);
        let specs = registry.specs().into_iter();
        let schemas = specs.map(|spec| (spec.name.as_str().to_owned(), spec.arguments.clone()));
        let asker = AskingNode {
            node: caller.node.clone(),
            agent_type: caller.agent_type,
            at: self.journal.time_of(&caller.node),
            ground: locked(&self.grounds).get(&caller.node).cloned(),
        };
        let told = Arc::new(CallEvents {
            recorder: Arc::clone(&self.recorder),
            node: caller.node.clone(),
            counter: Arc::clone(&settings.counter),
        });
        Executor::new(ExecutorConfig {
            controller: InterruptController::new(ControllerConfig {
                scope: scope.child(),
                limit: settings.stop_within,
                clock: Arc::clone(&self.clock),
                counter: Arc::clone(&told) as Arc<_>,
            }),
            workspace: settings.workspace.clone(),
            policy: settings.policy.clone(),
            approver: Arc::new(StoreApprover {
                tooling: Arc::clone(self),
                state: Arc::clone(state),
                asker: asker.clone(),
                asked_at: asked_at.to_owned(),
                ids,
                schemas: schemas.collect(),
            }),
            callbacks: Arc::clone(&told) as Arc<_>,
            call_log: Arc::new(ToolJournal {
                tooling: Arc::clone(self),
                state: Arc::clone(state),
                asker,
                asked_at: asked_at.to_owned(),
                calls: calls.to_vec(),
                scope: scope.clone(),
                begun: Mutex::default(),
            }),
            progress: Arc::new(NoProgress),
            counter: told,
            at_once: settings.at_once,
            limits: self.limits(),
            registry,
        })
    }

    /// An agent that was launched has limits of its own.
    fn limits(&self) -> CallLimits {
        let mut limits = self.settings.limits.clone();
        if let Some(servers) = &self.settings.servers {
            servers.limit(&mut limits);
        }
        if let Ok(name) = ToolName::new(LAUNCH) {
            limits.by_tool.insert(name, None);
        }
        limits
    }
}

/// Executes the calls. Any stop of the agent interrupts them, even a graceful one: a graceful stop only finishes the
/// agent's own step, and its tools may take for ever. If a call that must not be interrupted is running, `deferred` is
/// called.
async fn execute(
    executor: &Executor,
    calls: Vec<RequestedCall>,
    scope: &StopScope,
    deferred: impl FnOnce(),
) -> Result<TurnEnd, tools::CallLogError> {
    let work = executor.execute(calls);
    tokio::pin!(work);
    let reason = tokio::select! {
        biased; // What has ended has ended.
        ended = &mut work => return ended,
        reason = scope.stopping() => reason,
    };
    // Running calls are told to stop, and waiting ones do not start.
    if executor.config().controller.request(reason) == Requested::Deferred {
        deferred();
    }
    work.await
}
