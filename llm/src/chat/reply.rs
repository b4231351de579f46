//! What a chat call gives back, whole or in part.

use interrupt_router::StopReason;
use interrupt_router::model::ToolRequest;

use super::{ChatOutcome, ChatUsage};

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatReply {
    /// What was said. Empty where only tools were asked for.
    pub text: String,
    /// The tools that the model asked for, in its order. It waits for what they return.
    pub tool_requests: Vec<ToolRequest>,
    /// What it cost.
    pub usage: ChatUsage,
    /// Whether the provider said that the answer was cut off at its length limit.
    pub cut_off: bool,
}

/// What there is of an interrupted answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChatPartial {
    /// The text so far.
    pub text: String,
    /// The tools that it had asked for by then: those requests that had arrived whole. None was run.
    pub tool_requests: Vec<ToolRequest>,
    /// What is known of its cost.
    pub usage: ChatUsage,
    /// What had arrived and is not kept.
    pub discarded: Discarded,
    /// What the interrupt did where the model is served.
    pub at_provider: AtProvider,
}

impl ChatPartial {
    /// Of a call of which nothing was sent.
    pub fn nothing_sent() -> Self {
        Self {
            usage: ChatUsage::NOTHING_SENT,
            ..Self::default()
        }
    }

    /// Whether the provider may bill more than is reported, though its answer is no longer read: a request was under
    /// way, or earlier tries failed whose cost is unknown.
    pub fn may_be_billed(&self) -> bool {
        self.at_provider != AtProvider::NothingUnderWay || !self.usage.is_known()
    }

    /// The ending of a call that was interrupted with this.
    pub(crate) fn interrupted(self, reason: StopReason) -> ChatOutcome {
        ChatOutcome::Interrupted {
            reason,
            partial: self,
        }
    }
}

/// What had arrived of an interrupted answer and was thrown away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Discarded {
    /// Bytes of reasoning, which is never part of an answer.
    pub reasoning: usize,
    /// Pieces of requests for tools that had not arrived whole: half a request can only dangle.
    pub tool_call_pieces: usize,
    /// Events of the stream that had been read and waited to be looked at.
    pub waiting_events: usize,
}

/// What an interrupt did where the model is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AtProvider {
    /// No request was under way: none had been sent, or the last one was over.
    #[default]
    NothingUnderWay,
    /// The connection was closed, or with HTTP/2 its stream. A server that can stop generating does so
    /// then.
    ConnectionClosed,
    /// The answer is made in the background, and the provider is being told to cancel it. The model's
    /// [`CancelObserver`](crate::CancelObserver) gets the outcome.
    BeingTold,
    /// The answer is no longer read. Its connection was not seen to close in time, or it is made in the
    /// background and has no name yet by which it could be cancelled.
    OnlyDiscarded,
}
