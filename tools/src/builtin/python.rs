//! `python`: runs Python code.

use async_trait::async_trait;
use interrupts::store::Repeating;
use schemars::JsonSchema;
use serde::Deserialize;

use super::program::{Program, ProgramConfig};
use super::{Ended, arguments, spec_of};
use crate::tool::{Interruption, Tool, ToolCall, ToolContext, ToolError, ToolSpec};

/// Runs Python code with `python3`: a text, or a file of the workspace.
#[derive(Debug, Clone)]
pub struct Python {
    config: ProgramConfig,
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PythonArguments {
    /// The code, instead of a file.
    #[schemars(length(min = 1))]
    code: Option<String>,
    /// The path of the file, instead of code.
    #[schemars(length(min = 1))]
    file: Option<String>,
    /// What the code finds in `sys.argv[1:]`.
    #[serde(default)]
    arguments: Vec<String>,
}

impl Python {
    /// The tool.
    pub fn new(config: ProgramConfig) -> Self {
        let description = "Runs Python 3 code in the workspace and returns what it wrote: either a text, or a file of \
                 the workspace. There is no input. Everything that it starts ends with it.";
        let (interruption, repeating) = (Interruption::Stops, Repeating::AskPerson);
        let description = description.to_owned();
        let spec = spec_of::<PythonArguments>("python", description, interruption, repeating);
        Self { config, spec }
    }
}

#[async_trait]
impl Tool for Python {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, call: &ToolCall, context: &ToolContext) -> Ended {
        let given: PythonArguments = arguments(call)?;
        let mut line = match (given.code, given.file) {
            (Some(code), None) => vec!["-c".into(), code.into()],
            (None, Some(file)) => vec![context.workspace.file(&file)?.into_os_string()],
            (Some(_), Some(_)) | (None, None) => {
                return Err(ToolError::Unusable {
                    reason: "either `code` or `file` must be given, and not both".to_owned(),
                });
            }
        };
        line.extend(given.arguments.into_iter().map(Into::into));
        let program = Program {
            program: "python3".into(),
            arguments: line,
            // What an interrupted program has written is kept only if it does not buffer it.
            environment: self
                .config
                .environment
                .clone()
                .with("PYTHONUNBUFFERED", "1"),
            directory: context.workspace.root().to_owned(),
        };
        program.run(&self.config.containment, context).await
    }
}
