//! What all flows of a run share.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use interrupts::store::CheckpointId;
use llm::SupervisorStep;
use routing_core::ask::Asker;
use routing_core::bus::{BusEvent, DEFAULT_BACKLOG, EventBus, InProcessBus};
use routing_core::context::DecoratorChain;
use routing_core::handler::{Branches, HandlerConfig, HandlerPolicy, UnifiedInterruptHandler};
use routing_core::model::LanguageModel;
use routing_core::review::Reviewer;
use routing_core::{Blackboard, Clock, EventId, NodeId, RunId, StopScope};

use super::failure::FlowError;
use crate::agent_kind::AgentKind;
use crate::durable::checkpoint::{Checkpoints, NodeSnapshot, RunSnapshot};
use crate::durable::control::{OnlyScope, RunControl};
use crate::durable::decisions::StoreDecisions;
use crate::durable::desk::Desk;
use crate::durable::error::KeepError;
use crate::durable::journal::RunJournal;
use crate::durable::kinds::Kinds;
use crate::durable::letter::Letter;
use crate::durable::model::JournalledModel;
use crate::durable::record::{RunRecord, Standing};
use crate::durable::reroutes::StoreReroutes;
use crate::durable::unread::Unread;
use crate::records::{
    DiscoveryCollectorResult, InterruptRequest, InterruptRouting, PlanningCollectorResult,
    Summaries, TicketCollectorResult,
};
use crate::run::ledger::Ledger;
use crate::run::metered_model::MeteredModel;
use crate::run::recorder::Recorder;
use crate::run::reroute_log::{RerouteLog, words};
use crate::run::spans::RunSpans;
use crate::run::stoppable_reviewer::StoppableReviewer;
use crate::run::{Goal, NodeDirectory, RunConfig, RunEvent, RunLimits};
use crate::tools::{ToolUsingModel, Tooling, ToolingParts};
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
    keeping: Keeping,
    pub(crate) blackboard: Blackboard,
    pub(crate) handler: UnifiedInterruptHandler<InterruptRequest, InterruptRouting>,
    pub(crate) ledger: Arc<Ledger>,
    /// The tools of the agents, where they have any.
    pub(crate) tooling: Option<Arc<Tooling>>,
    control: OnceLock<Arc<dyn RunControl>>,
    /// What was given along when the run was resumed.
    inputs: Mutex<Vec<Letter>>,
    /// Why the run does not go on from where it stood, where somebody has given it up.
    given_up: OnceLock<String>,
    /// Where workers were sent that left their dispatch node, as far as the run has not gone there yet.
    later: Mutex<VecDeque<InterruptRouting>>,
    script: Mutex<Vec<(usize, SupervisorStep)>>,
    steps: Mutex<u32>,
    /// Set once the run comes to an end for one flow: the others finish their step and end too.
    halting: AtomicBool,
}

/// What keeps the run: its store, its journal, and the way of supervisors' events into it.
pub(crate) struct Keeping {
    pub(crate) journal: Arc<RunJournal>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) decisions: Arc<StoreDecisions>,
    pub(crate) reroutes: Arc<StoreReroutes>,
    pub(crate) reroute_log: Arc<RerouteLog>,
    pub(crate) bus: Arc<InProcessBus<AgentKind>>,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) spans: RunSpans,
    /// Held while the store is told of nodes, so that it hears of each change in its order.
    telling: tokio::sync::Mutex<()>,
}

/// What keeps a run is reached as if it were the engine's own.
impl Deref for Engine {
    type Target = Keeping;

    fn deref(&self) -> &Keeping {
        &self.keeping
    }
}

impl Keeping {
    fn over(record: RunRecord, nodes: &Arc<NodeDirectory>, recorder: &Arc<Recorder>) -> Self {
        let spans = RunSpans::new(record.run);
        let record = Arc::new(record);
        let journal = Arc::new(RunJournal::new(Arc::clone(&record)));
        let desk = Arc::new(Desk::new(record));
        let reroutes = Arc::new(StoreReroutes {
            desk: Arc::clone(&desk),
        });
        let reroute_log = Arc::new(RerouteLog {
            desk: Arc::clone(&desk),
            journal: Arc::clone(&journal),
            nodes: Arc::clone(nodes),
            reroutes: Arc::clone(&reroutes),
            recorder: Arc::clone(recorder),
            gate: tokio::sync::Mutex::new(()),
        });
        let admission = Arc::clone(&reroute_log) as Arc<_>;
        Self {
            decisions: Arc::new(StoreDecisions {
                desk: Arc::clone(&desk),
            }),
            journal,
            desk,
            reroutes,
            reroute_log,
            bus: Arc::new(InProcessBus::new(admission, DEFAULT_BACKLOG)),
            checkpoints: Checkpoints::default(),
            spans,
            telling: tokio::sync::Mutex::new(()),
        }
    }

    /// The model, with its calls in the journal.
    fn journalled(
        &self,
        model: &Arc<MeteredModel>,
        recorder: &Arc<Recorder>,
    ) -> Arc<JournalledModel> {
        Arc::new(JournalledModel::new(model, &self.journal).told(recorder))
    }

    /// The handler of the run's interrupts.
    fn handler(
        &self,
        asker: &Asker,
        reviewer: Arc<dyn Reviewer>,
        ledger: &Arc<Ledger>,
        clock: &Arc<dyn Clock>,
        policy: HandlerPolicy,
    ) -> UnifiedInterruptHandler<InterruptRequest, InterruptRouting> {
        UnifiedInterruptHandler::new(HandlerConfig {
            asker: asker.clone(),
            reviewing_model: asker.clone(),
            reviewer,
            reroutes: Arc::clone(&self.reroutes) as Arc<_>,
            decisions: Arc::clone(&self.decisions) as Arc<_>,
            decorators: DecoratorChain::default(),
            observer: Arc::clone(ledger) as Arc<_>,
            clock: Arc::clone(clock),
            // A run that is kept has checkpoints to fork from.
            policy: HandlerPolicy {
                branches: Branches::Forked,
                ..policy
            },
        })
    }
}

/// The model with whose answers agents go on: it may use tools first, where there are any.
pub(crate) fn with_tools(
    model: Arc<JournalledModel>,
    tooling: Option<&Arc<Tooling>>,
) -> Arc<dyn LanguageModel> {
    match tooling {
        Some(tooling) => Arc::new(ToolUsingModel {
            inner: model,
            tooling: Arc::clone(tooling),
        }),
        None => model,
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
            tools,
            store,
        } = config;
        let recorder = Arc::new(Recorder::new(run, Arc::clone(&clock), observer));
        let nodes = Arc::new(NodeDirectory::new(run));
        let keeping = Keeping::over(RunRecord::new(run, Kinds::of::<AgentKind>(), store), &nodes, &recorder);
        let model = Arc::new(MeteredModel::new(model));
        let ledger = Arc::new(Ledger::new(Arc::clone(&recorder), Arc::clone(&nodes)));
        let reviewer: Arc<dyn Reviewer> = Arc::new(StoppableReviewer { inner: reviewer });
        let tooling = tools.map(|settings| {
            Tooling::new(ToolingParts {
                settings,
                journal: Arc::clone(&keeping.journal),
                recorder: Arc::clone(&recorder),
                reviewer: Arc::clone(&reviewer),
                ledger: Some(Arc::clone(&ledger)),
                clock: Arc::clone(&clock),
            })
        });
        let asker = Asker {
            model: with_tools(keeping.journalled(&model, &recorder), tooling.as_ref()),
            constraints,
            corrections: limits.corrections,
        };
        let handler = keeping.handler(&asker, reviewer, &ledger, &clock, policy);
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
            keeping,
            blackboard: Blackboard::new(),
            handler,
            ledger,
            tooling,
            control: OnceLock::new(),
            inputs: Mutex::default(),
            given_up: OnceLock::new(),
            later: Mutex::default(),
            script: Mutex::new(supervisor_steps.into_iter().enumerate().collect()),
            steps: Mutex::new(0),
            halting: AtomicBool::new(false),
        }
    }

    /// Takes the run, and reads what was recorded of it. Its scope stops it where nobody else does.
    pub(crate) async fn open(&self, scope: &StopScope) -> Result<Standing, KeepError> {
        let control = match &self.journal.record.kept.control {
            Some(control) => Arc::clone(control),
            None => Arc::new(OnlyScope(scope.clone())),
        };
        let _first = self.control.set(control);
        let (standing, checkpoint) = self.journal.record.open().await?;
        if let Some(checkpoint) = checkpoint {
            self.journal.record.check(checkpoint).await?;
        }
        self.checkpoints.go_on_from(checkpoint);
        self.journal.record.keep_input().await?;
        let (loaded, told) = tokio::join!(self.journal.load(), self.journal.record.told_nodes());
        loaded?;
        self.nodes.were_told(told?);
        *self.steps.lock().unwrap_or_else(PoisonError::into_inner) = self.journal.steps();
        self.model.add(self.journal.usage(), &self.journal.tokens());
        self.nodes.were_read(self.journal.read_letters());
        if standing == Standing::GoesOn && !self.journal.record.is_watched_only() {
            let (handed, now) = (self.journal.events(), self.clock.now());
            self.desk.publish_handed(handed, now).await?;
            let unread = Unread::gather(&self.journal, &self.desk).await?;
            let Unread {
                letters,
                inputs,
                given_up,
            } = unread;
            if let Some(reason) = given_up {
                let _first = self.given_up.set(reason);
            }
            for (node, letter) in letters {
                self.nodes.keep_unread(&node, letter);
            }
            *self.inputs.lock().unwrap_or_else(PoisonError::into_inner) = inputs;
        }
        Ok(standing)
    }

    /// Who stops the run's nodes.
    pub(crate) fn control(&self) -> Option<&Arc<dyn RunControl>> {
        self.control.get()
    }

    /// The scope of a node.
    pub(crate) fn scope_of(&self, node: &NodeId) -> StopScope {
        // There is one as soon as the run is executed, and nothing asks before.
        self.control()
            .map_or_else(StopScope::new, |control| control.scope_of(node))
    }

    /// Why the run does not go on from where it stood, where somebody has given it up.
    pub(crate) fn given_up(&self) -> Option<&str> {
        self.given_up.get().map(String::as_str)
    }

    /// New input for the node of the run's own flow that has the turn, where it came with the resuming.
    pub(crate) fn take_inputs(&self) -> Vec<Letter> {
        std::mem::take(&mut *self.inputs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether there is such input that nobody has read yet.
    pub(crate) fn has_inputs(&self) -> bool {
        let inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        !inputs.is_empty()
    }

    /// Takes messages out of a node's box that were taken back before anybody read them. The others can be taken
    /// back no more: its next turn reads them.
    pub(crate) async fn drop_withdrawn(&self, node: &NodeId) -> Result<(), KeepError> {
        let withdrawn = self.withdrawn(self.nodes.messages_for(node)).await?;
        self.nodes.drop_messages(node, &withdrawn);
        Ok(())
    }

    /// Leaves out of a turn's letters the messages that were taken back before anybody read them.
    pub(crate) async fn leave_out_withdrawn(
        &self,
        letters: &mut Vec<Letter>,
    ) -> Result<(), KeepError> {
        let messages = letters.iter().filter_map(Letter::message_place).collect();
        let withdrawn = self.withdrawn(messages).await?;
        letters.retain(|letter| {
            letter
                .message_place()
                .is_none_or(|place| !withdrawn.contains(&place))
        });
        Ok(())
    }

    async fn withdrawn(&self, mut messages: Vec<u64>) -> Result<Vec<u64>, KeepError> {
        if !messages.is_empty() {
            let record = &self.journal.record;
            let (store, epoch) = (record.store(), record.epoch()?);
            let read = store.read_messages(self.run, epoch, &messages).await?;
            messages.retain(|message| !read.contains(message));
        }
        Ok(messages)
    }

    /// Tells the store how the nodes stand.
    pub(crate) async fn keep_nodes(&self) -> Result<(), KeepError> {
        let record = &self.journal.record;
        if record.is_watched_only() {
            return Ok(());
        }
        let _in_order = self.telling.lock().await;
        for node in self.model.take_touched() {
            self.nodes.touch(&node);
        }
        let tokens = |node: &NodeId| self.model.tokens_of(node);
        let rows = self.nodes.changed_rows(self.clock.now(), tokens)?;
        if !rows.is_empty() {
            record
                .store()
                .put_nodes(self.run, record.epoch()?, rows)
                .await?;
        }
        Ok(())
    }

    /// Saves a checkpoint, and tells of it.
    pub(crate) async fn checkpoint(&self, reason: &str) -> Result<Option<CheckpointId>, KeepError> {
        self.checkpoint_with(reason, None).await
    }

    /// As [`Engine::checkpoint`], with what came of the run.
    pub(crate) async fn checkpoint_with(
        &self,
        reason: &str,
        result: Option<String>,
    ) -> Result<Option<CheckpointId>, KeepError> {
        if self.journal.record.is_watched_only() {
            return Ok(None);
        }
        let snapshot = RunSnapshot {
            reason: reason.to_owned(),
            steps: self.steps(),
            nodes: self
                .nodes
                .all()
                .into_iter()
                .map(NodeSnapshot::of)
                .collect::<Result<_, _>>()?,
            interrupts: self.ledger.open(),
            result,
        };
        let saved = self.checkpoints.save(&self.journal, &snapshot).await?;
        self.recorder.record(RunEvent::CheckpointSaved {
            number: saved.number,
            reason: reason.to_owned(),
        });
        Ok(Some(saved))
    }

    /// The number of the next step.
    pub(crate) fn next_step(&self) -> Result<u32, FlowError> {
        let limit = self.limits.max_steps;
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if *steps >= limit {
            let taken = *steps;
            return Err(FlowError::StepLimit { taken, limit });
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

    /// The first scripted step that this test picks, taken out of the script, and its place in it.
    pub(crate) fn take_scripted(
        &self,
        fits: impl Fn(&SupervisorStep) -> bool,
    ) -> Option<(usize, SupervisorStep)> {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let at = script.iter().position(|(_, step)| fits(step))?;
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
        let expired = self.reroutes.expire().await?;
        self.tell_ended(expired).await
    }

    /// Tells the observer and the bus what became of events that no decision used.
    pub(crate) async fn tell_ended(&self, events: Vec<EventId>) -> Result<(), FlowError> {
        for event in events {
            let Some(stored) = self.reroutes.state_of(&event).await? else {
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
