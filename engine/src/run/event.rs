//! The events of a run, as they happen.

use crate::durable::kinds::NamedEvent;
use interrupt_router::handler::{DecidedBy, FilledBy};
use interrupt_router::model::{CallNote, ModelCaller, TokenUsage};
use interrupt_router::review::{Answer, Question};
use interrupt_router::{
    EventId, InterruptDetails, InterruptId, NodeId, RunId, StopReason, Verdict,
};
use interrupts::store::NodeActivity;
use jiff::Timestamp;
use serde_json::Value;
use tools::{Progress, ToolMessage};

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunEvent {
    /// The run has started, or goes on in this process.
    Started {
        /// What it shall do.
        goal: String,
        /// The model's name.
        model: String,
        /// The folder it speaks about.
        workspace: String,
    },
    /// A node came to be.
    AgentSpawned {
        /// The node.
        node: NodeId,
        /// The node above it.
        parent: Option<NodeId>,
        /// Its kind.
        kind: &'static str,
    },
    /// A node does something else than before.
    AgentStatusChanged {
        /// The node.
        node: NodeId,
        /// Its kind.
        kind: &'static str,
        /// What it does now.
        status: NodeActivity,
    },
    /// A node got a message: from a supervisor or a person.
    MessageAdded {
        /// The node.
        node: NodeId,
        /// The message.
        text: String,
    },
    /// A node asks its model.
    StepStarted {
        /// The node.
        node: NodeId,
        /// Its kind.
        kind: &'static str,
        /// The step's number in the run, from 1.
        step: u32,
        /// The node's turn, from 1.
        turn: u32,
    },
    /// A piece of a model's answer arrived.
    AnswerChunk {
        /// The node.
        node: NodeId,
        /// The piece.
        text: String,
    },
    /// What came of a call to the model is recorded, or that a budget refused it and it was not made.
    ModelCallRecorded {
        /// On whose behalf it was made.
        caller: ModelCaller,
    },
    /// News about the call to a node's model that is under way: it waits for its next try, say.
    ModelNoted {
        /// The node.
        node: NodeId,
        /// What.
        note: CallNote,
    },
    /// A model's answer does not fit, and the model is asked again if corrections are left.
    AnswerCorrected {
        /// The node.
        node: NodeId,
        /// Which correction follows, from 1.
        correction: u32,
        /// Where the answer is wrong.
        path: String,
        /// Why.
        reason: String,
    },
    /// A tool call has begun, and that is recorded.
    ToolStarted {
        /// The node whose model asked for it.
        node: NodeId,
        /// The call's id.
        call: String,
        /// The tool's name.
        tool: String,
        /// The arguments that it runs with.
        arguments: Value,
    },
    /// A running tool reports progress, which is not part of its result.
    ToolProgress {
        /// The node whose model asked for it.
        node: NodeId,
        /// The call's id.
        call: String,
        /// The tool's name.
        tool: String,
        /// What it reports.
        progress: Progress,
    },
    /// A tool call has its one message, and that is recorded: it has ended, or never began.
    ToolEnded {
        /// The node whose model asked for it.
        node: NodeId,
        /// Its message.
        message: Box<ToolMessage>,
    },
    /// A stop waits for a call that must not be interrupted.
    StopDeferred {
        /// The node whose model asked for the call.
        node: NodeId,
    },
    /// A result came after its call was given up, and was dropped.
    ToolLateResultDropped {
        /// The node whose model asked for it.
        node: NodeId,
        /// The tool's name.
        tool: String,
    },
    /// A node has decided where to go.
    StepFinished {
        /// The node.
        node: NodeId,
        /// Its kind.
        kind: &'static str,
        /// The step's number in the run, from 1.
        step: u32,
        /// The field that it set.
        field: &'static str,
        /// What it says, in one line.
        summary: String,
        /// What its model used.
        usage: TokenUsage,
        /// How many corrections it took.
        corrections: u32,
    },
    /// A supervisor's event was accepted.
    EventPublished {
        /// The event.
        event: NamedEvent,
    },
    /// A supervisor's event was refused.
    EventRefused {
        /// The event's id.
        event: EventId,
        /// Why, in words.
        reason: String,
    },
    /// What became of an accepted event that no decision used.
    EventEnded {
        /// The event's id.
        event: EventId,
        /// Its last state, in words.
        state: String,
    },
    /// An agent raised an interrupt.
    InterruptRaised {
        /// The interrupt.
        interrupt: InterruptId,
        /// The node.
        node: NodeId,
        /// Its kind.
        kind: &'static str,
        /// The shared part.
        details: InterruptDetails,
        /// All of it.
        payload: Value,
    },
    /// A reroute event is bound to an interrupt.
    InterruptBound {
        /// The interrupt.
        interrupt: InterruptId,
        /// The event's id.
        event: EventId,
        /// Where the answer goes: an agent type.
        target: String,
    },
    /// A person is asked.
    InterruptOpened {
        /// What is asked.
        question: Box<Question>,
    },
    /// A reviewing model answered.
    InterruptReviewed {
        /// The interrupt.
        interrupt: InterruptId,
        /// How sure the model was, in percent.
        confidence: u8,
        /// How sure it had to be.
        threshold: u8,
    },
    /// An answer does not fit its question.
    AnswerRefused {
        /// The interrupt.
        interrupt: InterruptId,
        /// What is wrong.
        problem: String,
    },
    /// An answer was accepted.
    InterruptAnswered {
        /// The interrupt.
        interrupt: InterruptId,
        /// The answer.
        answer: Answer,
    },
    /// The run waits to be resumed.
    Paused {
        /// The interrupt that paused it.
        interrupt: InterruptId,
        /// Why.
        reason: String,
    },
    /// The run was resumed.
    Resumed {
        /// The interrupt that had paused it.
        interrupt: InterruptId,
        /// The new input, if there was one.
        input: Option<String>,
    },
    /// An interrupt leaves along one route.
    InterruptResolved {
        /// The interrupt.
        interrupt: InterruptId,
        /// Where it came from.
        origin: String,
        /// Where it goes.
        target: String,
        /// Who decided.
        decided_by: DecidedBy,
        /// Who filled in the target's request.
        filled_by: FilledBy,
        /// The reroute event that was used.
        reroute: Option<EventId>,
    },
    /// The answer to an interrupt is no, or none came in time: no route is taken, and nothing that it asked about is
    /// done.
    InterruptDeclined {
        /// The interrupt.
        interrupt: InterruptId,
        /// What was decided.
        verdict: Verdict,
        /// Who decided.
        decided_by: DecidedBy,
    },
    /// A node was cut off from outside: all below it ends too.
    CutOff {
        /// The node.
        node: NodeId,
        /// Why.
        reason: String,
    },
    /// An interrupt has forked the run.
    Branched {
        /// The interrupt.
        interrupt: InterruptId,
        /// The new run, which can be resumed.
        branch: RunId,
        /// Why.
        reason: String,
    },
    /// An interrupt ended its node: all below it ends too.
    Pruned {
        /// The interrupt.
        interrupt: InterruptId,
        /// The node.
        node: NodeId,
        /// Why.
        reason: String,
    },
    /// An interrupt could not be carried out, and its node learned why.
    InterruptRefused {
        /// The interrupt.
        interrupt: InterruptId,
        /// Why.
        reason: String,
    },
    /// A node has ended.
    AgentFinished {
        /// The node.
        node: NodeId,
        /// Its kind.
        kind: &'static str,
        /// How.
        status: NodeActivity,
    },
    /// The run was asked to stop.
    Stopping {
        /// Who asked, how, and why.
        reason: StopReason,
    },
    /// The run has done its work.
    Completed {
        /// What came of it.
        summary: String,
    },
    /// Something that the workflow names itself.
    Told {
        /// The node that it is about, if it is about one.
        node: Option<NodeId>,
        /// Its name: the end of the type of its CloudEvent, such as `run.plan_told`.
        name: &'static str,
        /// Its details.
        data: Value,
    },
    /// A checkpoint was saved.
    CheckpointSaved {
        /// Its number in the run.
        number: u64,
        /// Why.
        reason: String,
    },
    /// The run has stopped as it was asked to, and can be resumed.
    Stopped {
        /// Why.
        reason: String,
    },
    /// The run was cancelled.
    Cancelled {
        /// Why.
        reason: String,
    },
    /// The run waits for answers that cannot come now.
    Waiting {
        /// The open interrupts.
        interrupts: Vec<InterruptId>,
    },
    /// Something failed, or the run took as many steps as it may.
    Failed {
        /// Why, from the outermost cause to the innermost.
        error: String,
        /// Whether the run is only paused by it, and can be resumed.
        resumable: bool,
    },
}

/// An event with its place and time.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOccurrence {
    /// The run.
    pub run: RunId,
    /// Its place in the run, from 1, without gaps.
    pub sequence: u64,
    /// When it happened; of what is replayed, about when it was recorded.
    pub at: Timestamp,
    /// Whether it had happened before this process took the run: it is reported again so that observers can rebuild
    /// what they show.
    pub replayed: bool,
    /// What happened.
    pub event: RunEvent,
}

/// Notified of what happens in a run. Called in order, from one task at a time; must not block.
pub trait RunObserver: Send + Sync {
    /// Something happened.
    fn observe(&self, occurrence: &RunOccurrence);

    /// Whether it wants [`RunEvent::AnswerChunk`]: most of the events of a run. Asked once.
    fn wants_chunks(&self) -> bool {
        true
    }
}

/// Ignores all events.
impl RunObserver for () {
    fn observe(&self, _occurrence: &RunOccurrence) {}

    fn wants_chunks(&self) -> bool {
        false
    }
}
