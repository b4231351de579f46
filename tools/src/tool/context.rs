//! What a tool gets for one call.

use std::fmt::{self, Debug};
use std::sync::Arc;

use interrupt_router::StopScope;

use super::progress::{NoProgress, ProgressSink};
use crate::limit::CallLimit;
use crate::workspace::Workspace;

/// What a tool gets for one call.
#[derive(Clone)]
pub struct ToolContext {
    /// Stopped when the call is to end.
    pub scope: StopScope,
    /// Receives what to show meanwhile.
    pub progress: Arc<dyn ProgressSink>,
    /// The folder that the agent works in.
    pub workspace: Workspace,
    /// The call's time limit. A tool that waits for a person pauses it.
    pub limit: CallLimit,
    /// What was shown for approval, if the call needed one. The tool must make that change, or none.
    pub shown: Option<String>,
}

impl ToolContext {
    /// A context without a progress sink and without a time limit.
    pub fn new(scope: StopScope, workspace: Workspace) -> Self {
        Self {
            scope,
            progress: Arc::new(NoProgress),
            workspace,
            limit: CallLimit::none(),
            shown: None,
        }
    }
}

impl Debug for ToolContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolContext")
            .field("scope", &self.scope)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}
