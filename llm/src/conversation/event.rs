//! What a conversation tells those who listen, and how its runs end.

use std::sync::Arc;

use interrupt_router::StopReason;
use interrupt_router::model::{CallNote, ModelError, PartialReply, TokenUsage, ToolRequest};

use super::tools::ToolResult;

/// What a conversation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConversationStatus {
    /// Nothing: there may be messages that no run has taken up.
    Idle,
    /// It runs.
    Running,
    /// It runs until the answer under way is whole, or the tools under way have ended.
    Pausing,
    /// It is being interrupted.
    Interrupting,
    /// It was paused or interrupted, and waits for the next run.
    Paused,
}

impl ConversationStatus {
    /// Whether a run is under way.
    pub const fn is_running(self) -> bool {
        match self {
            Self::Running | Self::Pausing | Self::Interrupting => true,
            Self::Idle | Self::Paused => false,
        }
    }
}

/// What happened in a conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ConversationEvent {
    /// A message was sent. It waits for the next step.
    MessageSent {
        /// The message.
        text: String,
    },
    /// A run began.
    RunStarted,
    /// The model is called. It answers these messages, and everything left unanswered before.
    StepStarted {
        /// The messages that were taken up, in the order in which they were sent.
        messages: Vec<String>,
    },
    /// A piece of the answer arrived.
    Piece {
        /// The piece.
        text: String,
    },
    /// The pieces of this step so far do not count: its answer starts again.
    Restarted,
    /// Something else is to be known of the call under way: it waits for its next try, say.
    Noted {
        /// What.
        note: CallNote,
    },
    /// The answer is whole.
    Answered {
        /// The answer. It may be empty where tools are asked for.
        text: String,
        /// The tools that it asks for; they run next.
        tool_requests: Vec<ToolRequest>,
        /// What it cost, as far as the provider said.
        usage: TokenUsage,
        /// Whether the provider cut it off at its length limit.
        cut_off: bool,
    },
    /// A tool that the model asked for starts.
    ToolStarted {
        /// What was asked for.
        request: ToolRequest,
    },
    /// What came of a tool that the model asked for. Exactly one for each request, also of those that
    /// never started.
    ToolEnded {
        /// What was asked for.
        request: ToolRequest,
        /// What came of it.
        result: ToolResult,
    },
    /// The model gave no answer. The message waits for the next run.
    Failed {
        /// Why.
        error: Arc<ModelError>,
    },
    /// The conversation was interrupted, and is paused now. Exactly one for each interrupt that was
    /// not a repetition.
    Interrupted {
        /// Who did it, and why.
        reason: StopReason,
        /// What there is of the answer, where one was under way.
        partial: Option<PartialReply>,
    },
    /// The conversation was paused after an answer.
    Paused {
        /// Who did it, and why.
        reason: StopReason,
    },
    /// A run ended, for there was nothing left to answer.
    RunEnded,
}

/// How a run ended that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationRunEnd {
    /// Everything is answered.
    Answered,
    /// It was paused between two answers, or before or after tools; tools that had not begun are what
    /// the next run begins with.
    Paused {
        /// Who did it, and why.
        reason: StopReason,
    },
    /// It was interrupted.
    Interrupted {
        /// Who did it, and why.
        reason: StopReason,
        /// What there is of the answer, where one was under way.
        partial: Option<PartialReply>,
    },
}

/// Why a run did not begin, or did not reach its end.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationRunError {
    /// Another run of the same conversation is under way.
    #[error("the conversation already runs")]
    AlreadyRunning,
    /// The model gave no answer. The message waits for the next run.
    #[error("the model gave no answer")]
    Model(#[source] Arc<ModelError>),
}

/// What asking for a stop did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopOutcome {
    /// The run under way ends because of it.
    StopsRun,
    /// Nothing ran, and a message waits for its run: that run ends because of it, before it calls the model.
    StopsNextRun,
    /// Nothing ran; the conversation is paused until the next run.
    PausesIdle,
    /// Nothing: it was paused already, or is stopping at least as hard.
    ChangesNothing,
}
