//! What observers of the run learn while tools run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interrupt_router::{NodeId, StopSource};
use tools::{Progress, ProgressSink, ToolCall, ToolCallbacks, ToolCounter};

use crate::run::RunEvent;
use crate::run::recorder::Recorder;

/// The most that is reported of one call while it runs, in bytes.
const MOST_TOLD: usize = 256 << 10;

/// Reports the calls of one agent. The tool journal reports their ends, once they are recorded.
pub(super) struct CallEvents {
    pub(super) recorder: Arc<Recorder>,
    pub(super) node: NodeId,
    pub(super) counter: Arc<dyn ToolCounter>,
}

impl ToolCallbacks for CallEvents {
    fn on_tool_start(&self, call: &ToolCall) {
        self.recorder.record(RunEvent::ToolStarted {
            node: self.node.clone(),
            call: call.id.as_str().to_owned(),
            tool: call.tool.as_str().to_owned(),
            arguments: call.arguments.clone(),
        });
    }

    fn progress_of(&self, call: &ToolCall) -> Option<Arc<dyn ProgressSink>> {
        Some(Arc::new(ProgressEvents {
            recorder: Arc::clone(&self.recorder),
            node: self.node.clone(),
            call: call.id.as_str().to_owned(),
            tool: call.tool.as_str().to_owned(),
            left: AtomicUsize::new(MOST_TOLD),
        }))
    }
}

impl ToolCounter for CallEvents {
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

struct ProgressEvents {
    recorder: Arc<Recorder>,
    node: NodeId,
    call: String,
    tool: String,
    /// How many bytes may still be reported.
    left: AtomicUsize,
}

impl ProgressEvents {
    /// Whether there is room for so many bytes more, which are then used up.
    fn takes(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.left
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, less)
            .is_ok()
    }
}

/// The size of a piece beside its text.
const OF_A_PIECE: usize = 64;

fn size(progress: &Progress) -> usize {
    let text = match progress {
        Progress::Output { text, .. } => text.len(),
        Progress::Step { message, .. } => message.as_ref().map_or(0, String::len),
    };
    text.saturating_add(OF_A_PIECE)
}

impl ProgressSink for ProgressEvents {
    fn progress(&self, progress: Progress) {
        // A tool may report more than anyone can read, faster than it can be shown. Its result has what it wrote.
        if !self.takes(size(&progress)) {
            return;
        }
        self.recorder.record(RunEvent::ToolProgress {
            node: self.node.clone(),
            call: self.call.clone(),
            tool: self.tool.clone(),
            progress,
        });
    }
}
