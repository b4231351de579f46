//! What tools that read files have in common: each is about one path of the workspace, and opens files through it alone.

use std::marker::PhantomData;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Ended, arguments, blocking};
use crate::tool::{Tool, ToolCall, ToolContext, ToolSpec};
use crate::workspace::Workspace;

/// The arguments of a tool that reads files, and what it does.
pub(super) trait FileWork: DeserializeOwned + Send + Sync + 'static {
    /// What the tool says of itself.
    fn spec() -> ToolSpec;

    /// Does the work, which blocks.
    fn run(self, context: &ToolContext) -> Ended;
}

/// A tool that reads files.
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

    fn path(&self, call: &ToolCall, _workspace: &Workspace) -> Option<String> {
        path_of(call)
    }

    fn keeps_to_paths(&self) -> bool {
        true
    }

    async fn call(&self, call: &ToolCall, context: &ToolContext) -> Ended {
        let given: A = arguments(call)?;
        blocking(context, move |context| given.run(context)).await
    }
}

/// The path that a call is about; without one it is about the whole workspace.
pub(super) fn path_of(call: &ToolCall) -> Option<String> {
    let path = call.arguments.get("path").and_then(Value::as_str);
    Some(path.unwrap_or(".").to_owned())
}
