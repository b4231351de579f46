//! `shell`: runs a command line.

use std::env;
use std::ffi::OsString;

use async_trait::async_trait;
use interrupts::store::Repeating;
use schemars::JsonSchema;
use serde::Deserialize;

use super::program::{Program, ProgramConfig};
use super::{Ended, arguments, spec_of};
use crate::tool::{Interruption, Tool, ToolCall, ToolContext, ToolSpec};

/// Runs a command line: with `bash` where there is one, else with `sh`.
#[derive(Debug, Clone)]
pub struct Shell {
    config: ProgramConfig,
    shell: OsString,
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShellArguments {
    /// The command line.
    #[schemars(length(min = 1))]
    command: String,
    /// The folder of the workspace to run it in; without it the workspace itself.
    directory: Option<String>,
}

impl Shell {
    /// The tool.
    pub fn new(config: ProgramConfig) -> Self {
        let description = "Runs a command line in the workspace and returns what it wrote. There is no terminal and no \
                 input. Everything that it starts ends with it, also in the background.";
        let (interruption, repeating) = (Interruption::Stops, Repeating::AskPerson);
        let description = description.to_owned();
        let spec = spec_of::<ShellArguments>("shell", description, interruption, repeating);
        Self {
            shell: shell(&config),
            config,
            spec,
        }
    }
}

#[async_trait]
impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, call: &ToolCall, context: &ToolContext) -> Ended {
        let given: ShellArguments = arguments(call)?;
        let directory = context
            .workspace
            .directory(given.directory.as_deref().unwrap_or("."))?;
        let program = Program {
            program: self.shell.clone(),
            arguments: vec!["-c".into(), given.command.into()],
            environment: self.config.environment.clone(),
            directory,
        };
        program.run(&self.config.containment, context).await
    }
}

/// `bash`, where the tool's `PATH` has one.
fn shell(config: &ProgramConfig) -> OsString {
    let mut variables = config.environment.variables();
    let path = variables
        .find(|(name, _value)| *name == "PATH")
        .map(|(_name, value)| value.to_owned());
    let has_bash = path
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join("bash").is_file()));
    if has_bash {
        "bash".into()
    } else {
        "/bin/sh".into()
    }
}
