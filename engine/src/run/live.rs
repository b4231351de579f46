//! A run that this process executes: what all of its parts share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use interrupt_router::ask::Asker;
use interrupt_router::handler::{Branches, HandlerPolicy, UnifiedInterruptHandler};
use interrupt_router::model::LanguageModel;
use interrupt_router::reroute::RerouteState;
use interrupt_router::review::Reviewer;
use interrupt_router::{
    AgentType, EventId, InterruptRoutes, NodeId, RunId, SealedInterrupt, StopScope,
};
use interrupts::Clock;
use interrupts::catalogue::SharedCatalogue;
use interrupts::store::{CheckpointId, NodeRow, Pages, StoreError};
use tokio::task::{JoinError, JoinHandle};

use super::event::RunEvent;
use super::failure::{RunError, StepLimitReached};
use super::limits::RunLimits;
use super::metered_model::MeteredModel;
use super::nodes::NodeDirectory;
use super::open_interrupts::OpenInterrupts;
use super::recorder::Recorder;
use super::reroute_log::{RerouteLog, words};
use super::settings::RunSettings;
use super::spans::RunSpans;
use super::stoppable_reviewer::StoppableReviewer;
use crate::durable::checkpoint::Checkpoints;
use crate::durable::control::RunControl;
use crate::durable::decisions::StoreDecisions;
use crate::durable::journal::RunJournal;
use crate::durable::kinds::Kinds;
use crate::durable::model::JournalledModel;
use crate::durable::record::RunRecord;
use crate::durable::reroutes::StoreReroutes;
use crate::durable::stored_interrupts::StoredInterrupts;
use crate::durable::undelivered::agent_message;
use crate::tools::{ToolUsingModel, Tooling, ToolingParts};
use journal::error::KeepError;
use journal::message::AgentMessage;
use journal::{NodeSnapshot, RunSnapshot};

/// How many messages are looked at together.
const MESSAGES: u32 = 500;

/// Rows of nodes that are being read.
type ReadingRows = JoinHandle<Result<Vec<NodeRow>, StoreError>>;

/// What the checkpoints of a run contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointContent {
    /// The states of its agents. The journal has everything else, and a process that continues the run reads it from
    /// its start.
    Agents,
    /// The state of its workflow, which saves them itself and goes on from the last one.
    Workflow,
}

/// What a run has of its workflow.
pub struct WorkflowParts {
    /// The kinds of its agents.
    pub kinds: Kinds,
    /// What its workflow says of itself, kept in the store for viewers of the run.
    pub catalogue: Option<SharedCatalogue>,
    /// What its checkpoints contain.
    pub checkpoints: CheckpointContent,
}

/// A run that this process executes: its store, its journal, its nodes, its model and its tools.
pub struct LiveRun {
    pub run: RunId,
    pub limits: RunLimits,
    /// How interrupts are decided.
    policy: HandlerPolicy,
    pub clock: Arc<dyn Clock>,
    pub model: Arc<MeteredModel>,
    pub asker: Asker,
    pub recorder: Arc<Recorder>,
    pub nodes: Arc<NodeDirectory>,
    pub open_interrupts: Arc<OpenInterrupts>,
    /// The tools of the agents, if they have any.
    pub tooling: Option<Arc<Tooling>>,
    pub journal: Arc<RunJournal>,
    pub stored_interrupts: Arc<StoredInterrupts>,
    pub decisions: Arc<StoreDecisions>,
    pub reroutes: Arc<StoreReroutes>,
    pub reroute_log: Arc<RerouteLog>,
    pub checkpoints: Checkpoints,
    pub(super) checkpoint_content: CheckpointContent,
    pub spans: RunSpans,
    pub reviewer: Arc<dyn Reviewer>,
    /// The rows of nodes that the store has, until they have been read. Locked while nodes are written to the store, so
    /// that it gets each change in order.
    told: tokio::sync::Mutex<Option<ReadingRows>>,
    pub(super) control: OnceLock<Arc<dyn RunControl>>,
    /// What was given along when the run was resumed.
    pub(super) inputs: Mutex<Vec<AgentMessage>>,
    /// Why the run does not go on from where it was, if it was given up.
    pub(super) given_up: OnceLock<String>,
    pub(super) steps: Mutex<u32>,
    /// Set once the run comes to an end for one flow: the others finish their step and end too.
    halting: AtomicBool,
}

/// The model whose answers agents continue with: it may use tools first, if there are any.
pub fn with_tools(
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

impl LiveRun {
    /// A run of a workflow. Nothing is done yet.
    pub fn new(workflow: WorkflowParts, settings: RunSettings) -> Self {
        let (run, limits, clock) = (settings.run, settings.limits, settings.clock);
        let recorder = Arc::new(Recorder::new(run, Arc::clone(&clock), settings.observer));
        let nodes = Arc::new(NodeDirectory::new(run));
        let record = RunRecord::new(run, workflow.kinds, settings.store);
        let record = Arc::new(record.under(workflow.catalogue));
        let journal = Arc::new(RunJournal::new(Arc::clone(&record)));
        let interrupts = Arc::new(StoredInterrupts::new(record));
        let reroute_log = Arc::new(RerouteLog::over(&journal, &interrupts, &nodes, &recorder));
        let model = Arc::new(MeteredModel::new(settings.model));
        let open_interrupts = Arc::new(OpenInterrupts::new(&recorder, &nodes));
        let reviewer: Arc<dyn Reviewer> = Arc::new(StoppableReviewer {
            inner: settings.reviewer,
        });
        let with_tools_of = |tools| ToolingParts {
            settings: tools,
            journal: Arc::clone(&journal),
            recorder: Arc::clone(&recorder),
            reviewer: Arc::clone(&reviewer),
            open_interrupts: Arc::clone(&open_interrupts),
            clock: Arc::clone(&clock),
        };
        let tooling = settings.tools.map(with_tools_of).map(Tooling::new);
        let journalled = Arc::new(JournalledModel::new(&model, &journal).told(&recorder));
        let asker = Asker {
            model: with_tools(journalled, tooling.as_ref()),
            constraints: settings.constraints,
            corrections: limits.corrections,
        };
        Self {
            run,
            limits,
            policy: settings.policy,
            clock,
            model,
            asker,
            recorder,
            nodes,
            open_interrupts,
            tooling,
            journal,
            decisions: Arc::new(StoreDecisions {
                stored_interrupts: Arc::clone(&interrupts),
            }),
            stored_interrupts: interrupts,
            reroutes: Arc::clone(&reroute_log.reroutes),
            reroute_log,
            checkpoints: Checkpoints::default(),
            checkpoint_content: workflow.checkpoints,
            spans: RunSpans::new(run),
            reviewer,
            told: tokio::sync::Mutex::default(),
            control: OnceLock::new(),
            inputs: Mutex::default(),
            given_up: OnceLock::new(),
            steps: Mutex::new(0),
            halting: AtomicBool::new(false),
        }
    }

    /// The handler of the run's interrupts.
    pub fn handler<I, R>(&self, branches: Branches) -> UnifiedInterruptHandler<I, R>
    where
        I: SealedInterrupt,
        I::Kind: AgentType<Route = R::AgentType>,
        R: InterruptRoutes,
    {
        let open = Arc::clone(&self.open_interrupts);
        UnifiedInterruptHandler::new(self.asker.clone(), Arc::clone(&self.reviewer))
            .with_decisions(Arc::clone(&self.decisions) as Arc<_>)
            .with_observer(move |interrupt, moment| open.observe(interrupt, moment))
            .with_policy(HandlerPolicy {
                branches,
                ..self.policy
            })
    }

    /// Who stops the run's nodes.
    pub fn control(&self) -> Option<&Arc<dyn RunControl>> {
        self.control.get()
    }

    /// The scope of a node.
    pub fn scope_of(&self, node: &NodeId) -> StopScope {
        // There is one as soon as the run is executed, and nothing asks before.
        self.control()
            .map_or_else(StopScope::new, |control| control.scope_of(node))
    }

    /// Why the run does not go on from where it was, if it was given up.
    pub fn given_up(&self) -> Option<&str> {
        self.given_up.get().map(String::as_str)
    }

    /// New input for the node of the run's own flow that has the turn, if it came with the resume.
    pub fn take_inputs(&self) -> Vec<AgentMessage> {
        std::mem::take(&mut *self.inputs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether there is such input that was not read yet.
    pub fn has_inputs(&self) -> bool {
        let inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        !inputs.is_empty()
    }

    /// Takes messages out of a node's mailbox that were withdrawn before they were read. The others can no longer be
    /// withdrawn: its next turn reads them.
    pub async fn drop_withdrawn(&self, node: &NodeId) -> Result<(), KeepError> {
        let withdrawn = self.withdrawn(self.nodes.messages_for(node)).await?;
        self.nodes.drop_messages(node, &withdrawn);
        Ok(())
    }

    /// Leaves out of a turn's messages those that were withdrawn before they were read.
    pub async fn leave_out_withdrawn(
        &self,
        letters: &mut Vec<AgentMessage>,
    ) -> Result<(), KeepError> {
        let messages = letters
            .iter()
            .filter_map(AgentMessage::message_place)
            .collect();
        let withdrawn = self.withdrawn(messages).await?;
        letters.retain(|letter| {
            letter
                .message_place()
                .is_none_or(|place| !withdrawn.contains(&place))
        });
        Ok(())
    }

    /// The messages for a node that the store has accepted and that were not read; this reads them.
    pub async fn messages_left_for(&self, node: &NodeId) -> Result<Vec<AgentMessage>, KeepError> {
        let store = self.journal.record.store();
        let (mut left, mut pages) = (Vec::new(), Pages::of(MESSAGES));
        while let Some(messages) = pages.next(|page| store.messages(self.run, page)).await? {
            let own = messages
                .iter()
                .filter(|it| it.message.node == *node && it.state.is_waiting());
            left.extend(own.map(|it| agent_message(it.position, &it.message.text)));
        }
        self.leave_out_withdrawn(&mut left).await?;
        Ok(left)
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

    /// Writes the changed nodes to the store.
    pub async fn keep_nodes(&self) -> Result<(), KeepError> {
        let record = &self.journal.record;
        let mut told = self.told.lock().await;
        self.take_told(&mut told).await?;
        let waits = self.recorder.waits();
        for node in self.model.take_touched() {
            self.nodes.touch(&node);
        }
        for node in waits.take_changed() {
            self.nodes.touch(&node);
        }
        let tokens = |node: &NodeId| self.model.tokens_of(node);
        let waits = |node: &NodeId| waits.of(node);
        let rows = self.nodes.changed_rows(self.clock.now(), tokens, waits)?;
        if !rows.is_empty() {
            record
                .store()
                .put_nodes(self.run, record.epoch()?, rows)
                .await?;
        }
        Ok(())
    }

    /// Begins to read the rows of the nodes that the store has. What is replayed meanwhile does not need them.
    pub(super) async fn begin_to_read_told(&self) {
        let record = Arc::clone(&self.journal.record);
        *self.told.lock().await = Some(tokio::spawn(async move { record.told_nodes().await }));
    }

    /// Waits until the rows of the nodes that the store had are read.
    pub async fn read_told(&self) -> Result<(), KeepError> {
        let mut told = self.told.lock().await;
        self.take_told(&mut told).await
    }

    async fn take_told(&self, told: &mut Option<ReadingRows>) -> Result<(), KeepError> {
        if let Some(reading) = told {
            let lost = |error: JoinError| StoreError::Unavailable {
                detail: error.to_string(),
            };
            let rows = reading.await.map_err(lost)?;
            *told = None;
            self.nodes.were_told(rows?);
        }
        Ok(())
    }

    /// Saves a checkpoint, and reports it.
    pub async fn checkpoint(&self, reason: &str) -> Result<Option<CheckpointId>, KeepError> {
        self.checkpoint_with(reason, None).await
    }

    /// As [`LiveRun::checkpoint`], with the result of the run.
    pub async fn checkpoint_with(
        &self,
        reason: &str,
        result: Option<String>,
    ) -> Result<Option<CheckpointId>, KeepError> {
        if self.checkpoint_content == CheckpointContent::Workflow {
            return Ok(self.checkpoints.last());
        }
        let nodes = self.nodes.all().into_iter();
        let snapshot = RunSnapshot {
            reason: reason.to_owned(),
            steps: self.steps(),
            nodes: nodes
                .map(|view| NodeSnapshot::new(view.node, view.kind, view.state))
                .collect::<Result<_, _>>()?,
            interrupts: self.open_interrupts.open(),
            result,
        };
        let content = serde_json::to_string(&snapshot)?;
        let saved = self.save(reason, RunSnapshot::FORM, content).await?;
        Ok(Some(saved))
    }

    /// Saves a checkpoint of any form, and reports it.
    pub async fn save(
        &self,
        reason: &str,
        form: u32,
        content: String,
    ) -> Result<CheckpointId, KeepError> {
        let saved = self.checkpoints.save(&self.journal, form, content).await?;
        self.recorder.record(RunEvent::CheckpointSaved {
            number: saved.number,
            reason: reason.to_owned(),
        });
        Ok(saved)
    }

    /// The number of the next step.
    pub fn next_step(&self) -> Result<u32, StepLimitReached> {
        let limit = self.limits.max_steps;
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if *steps >= limit {
            let taken = *steps;
            return Err(StepLimitReached { taken, limit });
        }
        *steps += 1;
        Ok(*steps)
    }

    /// How many steps were taken.
    pub fn steps(&self) -> u32 {
        *self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run for all flows, at their next boundary.
    pub fn halt(&self) {
        self.halting.store(true, Ordering::SeqCst);
    }

    /// Whether the run is ending.
    pub fn is_halting(&self) -> bool {
        self.halting.load(Ordering::SeqCst)
    }

    /// Notifies the observer of the end of events that no decision used. Returns them, for the bus.
    pub async fn tell_ended(
        &self,
        events: Vec<EventId>,
    ) -> Result<Vec<(EventId, RerouteState)>, RunError> {
        let mut told = Vec::new();
        for event in events {
            let Some(row) = self.reroutes.state_of(&event).await? else {
                continue;
            };
            self.recorder.record(RunEvent::EventEnded {
                event: event.clone(),
                state: words(&row.state),
            });
            told.push((event, row.state));
        }
        Ok(told)
    }
}
