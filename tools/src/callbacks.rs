//! Observers of what becomes of calls, while they run.

use std::sync::Arc;

use async_trait::async_trait;

use crate::tool::{ProgressSink, ToolCall, ToolOutput};
use journal::tool::{CallEnd, ToolMessage};

/// Observes each call. Nothing that it does changes how a call ended.
#[async_trait]
pub trait ToolCallbacks: Send + Sync {
    /// Before a call starts; an output given here is its result, and the tool is not run.
    ///
    /// # Cancel safety
    ///
    /// Is dropped where an interrupt comes first.
    async fn before_tool(&self, call: &ToolCall) -> Option<ToolOutput> {
        let _unused = call;
        None
    }

    /// The call starts.
    fn on_tool_start(&self, call: &ToolCall) {
        let _unused = call;
    }

    /// Receives the call's progress while it runs, instead of the executor's own sink.
    fn progress_of(&self, call: &ToolCall) -> Option<Arc<dyn ProgressSink>> {
        let _unused = call;
        None
    }

    /// It has a result, also where it was to be stopped.
    fn on_tool_result(&self, message: &ToolMessage) {
        let _unused = message;
    }

    /// It failed, was not allowed, or took too long.
    fn on_tool_error(&self, message: &ToolMessage) {
        let _unused = message;
    }

    /// It was stopped by an interrupt, or never started because of one. That is no error.
    fn on_tool_interrupted(&self, message: &ToolMessage) {
        let _unused = message;
    }
}

/// Ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCallbacks;

impl ToolCallbacks for NoCallbacks {}

/// Calls the callback for an end.
pub(crate) fn tell(callbacks: &dyn ToolCallbacks, message: &ToolMessage) {
    match message.end {
        CallEnd::Finished { .. } | CallEnd::FinishedAnyway { .. } => {
            callbacks.on_tool_result(message)
        }
        CallEnd::Failed { .. }
        | CallEnd::FailedAnyway { .. }
        | CallEnd::Denied { .. }
        | CallEnd::TimedOut { .. }
        | CallEnd::Unknown { .. } => callbacks.on_tool_error(message),
        CallEnd::Interrupted { .. } | CallEnd::Skipped { .. } => {
            callbacks.on_tool_interrupted(message)
        }
    }
}
