//! The port behind which a conversation's tools run.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::StopScope;
use interrupt_router::model::{ToolOffer, ToolRequest};

/// What a model reads of a call that an interrupt kept from starting.
pub(super) const NEVER_RAN: &str = "Not executed: an interrupt came before this call began.";

/// What a model reads of a call whose end was not seen.
const UNKNOWN: &str =
    "Interrupted while it ran; nobody saw how it ended, and it may have had an effect.";

/// Runs the tools that a conversation's model asks for.
#[async_trait]
pub trait ConversationTools: Send + Sync {
    /// The tools that the model may ask for in its next answer.
    fn offers(&self) -> Arc<[ToolOffer]>;

    /// Runs what was asked for at once, and says what came of each request, in their order. When `scope` is stopped
    /// immediately, all running calls are stopped and nothing more starts; the results say truthfully what happened
    /// until then. A graceful stop changes nothing here.
    ///
    /// What `progress` said of a request counts if the caller does not wait for this to end.
    ///
    /// # Cancel safety
    ///
    /// Must stop what runs when it is dropped; what became of it is then unknown.
    async fn run(
        &self,
        requests: &[ToolRequest],
        scope: &StopScope,
        progress: &dyn ToolProgress,
    ) -> Vec<ToolResult>;

    /// Waits as long as something runs that must not be interrupted. Only then does the time begin in which tools must
    /// have heeded a stop. By default, does not wait.
    ///
    /// # Cancel safety
    ///
    /// Must change nothing when it is dropped.
    async fn interruptible(&self) {}
}

/// Receives what becomes of requests while they run. `index` counts the requests from 0.
pub trait ToolProgress: Send + Sync {
    /// A call starts. Must not block.
    fn started(&self, index: usize);

    /// A call has its result. Must not block.
    fn ended(&self, index: usize, result: ToolResult);
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// What the model reads.
    pub text: String,
    /// How it ended.
    pub state: ToolState,
    /// The state in a few words, for a person who has interrupted it.
    pub summary: String,
    /// A sentence for the person where something of it may still run, whatever it returned.
    pub may_still_run: Option<String>,
}

/// How a call of a tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolState {
    /// It ran to its end.
    Finished,
    /// There is no result.
    Failed,
    /// It was not allowed.
    Denied,
    /// It was stopped while it ran, or was to be stopped and ended on its own.
    Interrupted,
    /// It did not start, for an interrupt came first.
    NeverRan,
    /// It took too long.
    TimedOut,
    /// It began, and what came of it was not seen: it may have been done.
    Unknown,
}

impl ToolState {
    /// The word for it in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Interrupted => "interrupted",
            Self::NeverRan => "neverRan",
            Self::TimedOut => "timedOut",
            Self::Unknown => "unknown",
        }
    }
}

impl ToolResult {
    /// Of a call that did not start.
    pub(super) fn never_ran() -> Self {
        Self {
            text: NEVER_RAN.to_owned(),
            state: ToolState::NeverRan,
            summary: "skipped, never started".to_owned(),
            may_still_run: None,
        }
    }

    /// Of a call that was left while it ran.
    pub(super) fn unknown() -> Self {
        Self {
            text: UNKNOWN.to_owned(),
            state: ToolState::Interrupted,
            summary: "interrupted; nobody saw how it ended".to_owned(),
            may_still_run: None,
        }
    }
}
