//! The tools that come with the router.

mod edit_files;
mod launch_agent;
mod list_files;
mod program;
mod python;
mod read_file;
mod search_files;
mod shell;
mod walk;

use std::sync::Arc;

use routing_core::Outcome;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tool::{PartialOutput, Tool, ToolCall, ToolContext, ToolError, ToolOutput};

pub use edit_files::edit_tools;
pub use launch_agent::{LaunchAgent, LaunchRequest, LaunchedAgent, Launcher, LauncherError};
pub use list_files::ListFiles;
pub use program::ProgramConfig;
pub use python::Python;
pub use read_file::ReadFile;
pub use search_files::SearchFiles;
pub use shell::Shell;

/// All of them but `launch_agent`, which needs a launcher.
pub fn built_in_tools(config: &ProgramConfig) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Shell::new(config.clone())),
        Arc::new(Python::new(config.clone())),
        Arc::new(ReadFile::new()),
        Arc::new(ListFiles::new()),
        Arc::new(SearchFiles::new()),
    ];
    tools.extend(edit_tools());
    tools
}

/// The arguments of a call as their type.
fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, ToolError> {
    T::deserialize(&call.arguments).map_err(|error| ToolError::Unusable {
        reason: error.to_string(),
    })
}

/// The path that a call is about; without one it is about the whole workspace.
fn path_of(call: &ToolCall) -> Option<String> {
    let path = call.arguments.get("path").and_then(Value::as_str);
    Some(path.unwrap_or(".").to_owned())
}

/// Does short work that blocks, off the threads that everything else runs on. A stop does not cut it in half: long work
/// checks the scope by itself.
async fn blocking(
    context: &ToolContext,
    work: impl FnOnce(&ToolContext) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError>
    + Send
    + 'static,
) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
    let context = context.clone();
    let done = tokio::task::spawn_blocking(move || work(&context)).await;
    done.unwrap_or_else(|fault| {
        Err(ToolError::Io {
            doing: "failed to work on files".to_owned(),
            source: fault.into(),
        })
    })
}
