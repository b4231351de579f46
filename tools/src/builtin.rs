//! The tools that come with the router.

mod edit_files;
mod file_tool;
mod launch_agent;
mod list_files;
mod program;
mod python;
mod read_file;
mod search_files;
mod shell;
mod walk;

use std::sync::Arc;

use interrupt_router::Outcome;
use interrupts::store::Repeating;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;

use crate::tool::{
    Interruption, PartialOutput, Tool, ToolCall, ToolContext, ToolError, ToolName, ToolOutput,
    ToolSpec,
};

/// How a call ends.
type Ended = Result<Outcome<ToolOutput, PartialOutput>, ToolError>;

pub use edit_files::edit_tools;
pub use launch_agent::{LaunchAgent, LaunchRequest, LaunchedAgent, Launcher, LauncherError};
pub use program::ProgramConfig;
pub use python::Python;
pub use shell::Shell;

use file_tool::FileTool;
use list_files::ListFiles;
use read_file::ReadFile;
use search_files::SearchFiles;

/// All of them but `launch_agent`, which needs a launcher.
pub fn built_in_tools(config: &ProgramConfig) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Shell::new(config.clone())),
        Arc::new(Python::new(config.clone())),
        Arc::new(FileTool::<ReadFile>::new()),
        Arc::new(FileTool::<ListFiles>::new()),
        Arc::new(FileTool::<SearchFiles>::new()),
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

/// A tool whose schema is that of its arguments, with what their fields say of themselves.
fn spec_of<A: JsonSchema>(
    name: &'static str,
    description: String,
    interruption: Interruption,
    repeating: Repeating,
) -> ToolSpec {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    for told_by_the_tool in ["title", "description"] {
        schema.remove(told_by_the_tool);
    }
    ToolSpec {
        name: ToolName::fixed(name),
        description,
        arguments: schema.to_value(),
        interruption,
        repeating,
    }
}

/// Does short work that blocks, off the threads that everything else runs on. A stop does not cut it in half: long work
/// checks the scope by itself.
async fn blocking(
    context: &ToolContext,
    work: impl FnOnce(&ToolContext) -> Ended + Send + 'static,
) -> Ended {
    let context = context.clone();
    let done = tokio::task::spawn_blocking(move || work(&context)).await;
    done.unwrap_or_else(|fault| {
        Err(ToolError::Io {
            doing: "failed to work on files".to_owned(),
            source: fault.into(),
        })
    })
}
