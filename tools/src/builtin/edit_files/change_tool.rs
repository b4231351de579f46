//! What tools that change one file have in common: a preview, a result that can be looked for after a death, and a change
//! that can be taken back.

use std::marker::PhantomData;

use async_trait::async_trait;
use interrupts::Digest;
use routing_core::Outcome;
use serde::de::DeserializeOwned;

use super::change::{change, made, preview_of};
use super::diff;
use crate::builtin::file_tool::path_of;
use crate::builtin::{Ended, arguments, blocking};
use crate::tool::{Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolSpec};
use crate::workspace::Workspace;

/// The arguments of a tool that changes a file, and what they make of it.
pub(super) trait Change: DeserializeOwned + Send + Sync + 'static {
    /// What the tool says of itself.
    fn spec() -> ToolSpec;

    /// The file.
    fn path(&self) -> &str;

    /// Its text after the change; `before` is what it is now, if there is such a file.
    fn after(&self, before: Option<&str>) -> Result<String, ToolError>;
}

/// A tool that changes a file.
pub(super) struct ChangeTool<A> {
    spec: ToolSpec,
    arguments: PhantomData<fn() -> A>,
}

impl<A: Change> ChangeTool<A> {
    pub(super) fn new() -> Self {
        Self {
            spec: A::spec(),
            arguments: PhantomData,
        }
    }
}

#[async_trait]
impl<A: Change> Tool for ChangeTool<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn path(&self, call: &ToolCall, _workspace: &Workspace) -> Option<String> {
        path_of(call)
    }

    fn keeps_to_paths(&self) -> bool {
        true
    }

    async fn preview(&self, call: &ToolCall, context: &ToolContext) -> Option<String> {
        let given: A = arguments(call).ok()?;
        let before = context.workspace.read_if_there(given.path());
        let diff = before.map_err(ToolError::from).and_then(|before| {
            let after = given.after(before.as_deref())?;
            Ok(diff(given.path(), before.as_deref(), Some(&after)))
        });
        Some(preview_of(diff))
    }

    async fn leaves(&self, call: &ToolCall, context: &ToolContext) -> Option<Digest> {
        let given: A = arguments(call).ok()?;
        let before = context.workspace.read_if_there(given.path()).ok()?;
        let after = given.after(before.as_deref()).ok()?;
        Some(Digest::of(after.as_bytes()))
    }

    async fn made(
        &self,
        call: &ToolCall,
        leaves: Digest,
        context: &ToolContext,
    ) -> Option<ToolOutput> {
        made(&path_of(call)?, leaves, context)
    }

    async fn call(&self, call: &ToolCall, context: &ToolContext) -> Ended {
        let given: A = arguments(call)?;
        blocking(context, move |context| {
            let diff = change(given.path(), context, |before| given.after(before))?;
            Ok(Outcome::Completed(ToolOutput::done(diff)))
        })
        .await
    }
}
