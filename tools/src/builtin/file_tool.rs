//! What tools that work on files have in common: each is about one path of the workspace, and opens files through it alone.

use std::marker::PhantomData;

use async_trait::async_trait;
use interrupts::Digest;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Ended, arguments, blocking};
use crate::tool::{Tool, ToolCall, ToolContext, ToolOutput, ToolSpec};
use crate::workspace::Workspace;

/// The arguments of a tool that works on files, and what it does.
pub(super) trait FileWork: DeserializeOwned + Send + Sync + 'static {
    /// What the tool says of itself.
    fn spec() -> ToolSpec;

    /// Does the work, which blocks.
    fn run(self, context: &ToolContext) -> Ended;

    /// As [`Tool::preview`].
    fn preview(&self, _context: &ToolContext) -> Option<String> {
        None
    }

    /// As [`Tool::leaves`].
    fn leaves(&self, _context: &ToolContext) -> Option<Digest> {
        None
    }

    /// As [`Tool::made`].
    fn made(&self, _leaves: Digest, _context: &ToolContext) -> Option<ToolOutput> {
        None
    }
}

/// A tool that works on files.
pub(super) struct FileTool<A> {
    spec: ToolSpec,
    arguments: PhantomData<fn() -> A>,
}

impl<A: FileWork> FileTool<A> {
    pub(super) fn new() -> Self {
        Self {
            spec: A::spec(),
            arguments: PhantomData,
        }
    }
}

#[async_trait]
impl<A: FileWork> Tool for FileTool<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Without one it is about the whole workspace.
    fn path(&self, call: &ToolCall, _workspace: &Workspace) -> Option<String> {
        let path = call.arguments.get("path").and_then(Value::as_str);
        Some(path.unwrap_or(".").to_owned())
    }

    fn keeps_to_paths(&self) -> bool {
        true
    }

    async fn preview(&self, call: &ToolCall, context: &ToolContext) -> Option<String> {
        arguments::<A>(call).ok()?.preview(context)
    }

    async fn leaves(&self, call: &ToolCall, context: &ToolContext) -> Option<Digest> {
        arguments::<A>(call).ok()?.leaves(context)
    }

    async fn made(
        &self,
        call: &ToolCall,
        leaves: Digest,
        context: &ToolContext,
    ) -> Option<ToolOutput> {
        arguments::<A>(call).ok()?.made(leaves, context)
    }

    async fn call(&self, call: &ToolCall, context: &ToolContext) -> Ended {
        let given: A = arguments(call)?;
        blocking(context, move |context| given.run(context)).await
    }
}
