//! What whoever watches the run is told while tools run.

use std::sync::Arc;

use routing_core::{NodeId, StopSource};
use tools::{Progress, ProgressSink, ToolCall, ToolCallbacks, ToolCounter};

use crate::run::RunEvent;
use crate::run::recorder::Recorder;

/// Tells of the calls of one agent. Their ends are told by the ledger, once they are recorded.
pub(super) struct ToldCalls {
    pub(super) recorder: Arc<Recorder>,
    pub(super) node: NodeId,
    pub(super) counter: Arc<dyn ToolCounter>,
}

impl ToolCallbacks for ToldCalls {
    fn on_tool_start(&self, call: &ToolCall) {
        self.recorder.record(RunEvent::ToolStarted {
            node: self.node.clone(),
            call: call.id.as_str().to_owned(),
            tool: call.tool.as_str().to_owned(),
            arguments: call.arguments.clone(),
        });
    }

    fn progress_of(&self, call: &ToolCall) -> Option<Arc<dyn ProgressSink>> {
        Some(Arc::new(ToldProgress {
            recorder: Arc::clone(&self.recorder),
            node: self.node.clone(),
            call: call.id.as_str().to_owned(),
            tool: call.tool.as_str().to_owned(),
        }))
    }
}

impl ToolCounter for ToldCalls {
    fn interrupted(&self, tool: &str, reason: StopSource) {
        self.counter.interrupted(tool, reason);
    }

    fn late_result(&self, tool: &str) {
        self.counter.late_result(tool);
        self.recorder.record(RunEvent::ToolLateResultDropped {
            node: self.node.clone(),
            tool: tool.to_owned(),
        });
    }
}

struct ToldProgress {
    recorder: Arc<Recorder>,
    node: NodeId,
    call: String,
    tool: String,
}

impl ProgressSink for ToldProgress {
    fn progress(&self, progress: Progress) {
        self.recorder.record(RunEvent::ToolProgress {
            node: self.node.clone(),
            call: self.call.clone(),
            tool: self.tool.clone(),
            progress,
        });
    }
}
