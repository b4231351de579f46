//! The tool port: what a tool is to whoever lets agents use it.

mod call;
mod context;
mod output;
mod progress;

use std::fmt::{self, Display};

use async_trait::async_trait;
use interrupts::Digest;
use interrupts::store::Repeating;
use routing_core::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::workspace::Workspace;

pub use call::{CallId, RequestedCall, ToolCall};
pub use context::ToolContext;
pub use output::{PartialOutput, Stopped, ToolError, ToolOutput, Verdict};
pub use progress::{NoProgress, Progress, ProgressSink, Stream};

/// The name that a model calls a tool by: 1 to 64 ASCII letters, digits, `-` and `_`, which every provider takes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ToolName(String);

/// A text that no provider takes as the name of a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no name of a tool; expected 1 to 64 letters, digits, `-` and `_`")]
pub struct ToolNameError {
    given: String,
}

impl ToolName {
    /// A name.
    ///
    /// # Errors
    ///
    /// [`ToolNameError`] where a provider would refuse it.
    pub fn new(text: impl Into<String>) -> Result<Self, ToolNameError> {
        let text = text.into();
        let fits = (1..=64).contains(&text.len());
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if fits && plain {
            Ok(Self(text))
        } else {
            Err(ToolNameError { given: text })
        }
    }

    /// A name that is known to be one, at compile time.
    pub(crate) fn fixed(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ToolName {
    type Error = ToolNameError;

    fn try_from(text: String) -> Result<Self, ToolNameError> {
        Self::new(text)
    }
}

impl Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What an interrupt does to a running call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interruption {
    /// It is stopped.
    Stops,
    /// It waits until the call has ended: for what must not be cut in half.
    Waits,
}

/// What a tool says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// What it is called by.
    pub name: ToolName,
    /// What it does, for the model that chooses.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub arguments: Value,
    /// What an interrupt does to it.
    pub interruption: Interruption,
    /// What may be done about a call whose outcome is unknown.
    pub repeating: Repeating,
}

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

    /// What the call would leave behind, where that can be told before it is made and looked for after its process has
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

    /// The path in the workspace that the call is about, as it names it. Where a rule denies it, the call does not start,
    /// and nobody is asked about it. `None` where it is about none.
    fn path(&self, call: &ToolCall, workspace: &Workspace) -> Option<String> {
        let _unused = (call, workspace);
        None
    }

    /// Whether the tool opens files through the workspace alone, so that rules about paths hold for it.
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
    /// Dropping the future ends the call as far as the tool can; nobody learns how. Stop the scope instead.
    async fn call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError>;
}
