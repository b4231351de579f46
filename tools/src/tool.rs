//! The tool port: what a tool is to the code that lets agents use it.

mod context;
mod error;
mod progress;

use async_trait::async_trait;
use interrupt_router::Outcome;
use interrupts::Digest;

use crate::workspace::Workspace;

pub use context::ToolContext;
pub use error::ToolError;
pub use journal::tool::{
    CallId, Interruption, PartialOutput, RequestedCall, Stopped, ToolCall, ToolName, ToolNameError,
    ToolOutput, ToolSpec, Verdict,
};
pub use progress::{NoProgress, Progress, ProgressSink, Stream};

/// Something that an agent can have done.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it says of itself; always the same.
    fn spec(&self) -> &ToolSpec;

    /// What the call would change, for the person who is asked whether it may; `None` where its arguments say it all.
    /// Changes nothing. A call that was allowed for its preview does that, or fails: see [`ToolContext::shown`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn preview(&self, call: &ToolCall, context: &ToolContext) -> Option<String> {
        let _unused = (call, context);
        None
    }

    /// What the call would leave behind, if that is known before it is made and can be looked for after its process has
    /// died: of a file, the digest of its whole text.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn leaves(&self, call: &ToolCall, context: &ToolContext) -> Option<Digest> {
        let _unused = (call, context);
        None
    }

    /// The result of a call whose process died before it was recorded; `None` where exactly what it was to leave behind
    /// is not there.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn made(
        &self,
        call: &ToolCall,
        leaves: Digest,
        context: &ToolContext,
    ) -> Option<ToolOutput> {
        let _unused = (call, leaves, context);
        None
    }

    /// The path in the workspace that the call is about, as it names it. If a rule denies it, the call does not start,
    /// and no person is asked about it. `None` if it is about none.
    fn path(&self, call: &ToolCall, workspace: &Workspace) -> Option<String> {
        let _unused = (call, workspace);
        None
    }

    /// Whether the tool opens files through the workspace alone, so that rules about paths apply to it.
    fn keeps_to_paths(&self) -> bool {
        false
    }

    /// Runs one call; its arguments fit the schema. Ends early, with what there is, when `context.scope` is stopped
    /// immediately, and says truthfully whether everything of it has ended.
    ///
    /// # Errors
    ///
    /// [`ToolError`] where there is no result. An interrupted call is not an error, and neither is a program that
    /// ran and left with a code: what it wrote is its result.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the call as far as the tool can, and how it ended is lost. Stop the scope instead.
    async fn call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError>;
}
