//! A program with workflows of its own.

use std::process::ExitCode;
use std::sync::Arc;

use engine::{ErasedWorkflow, Workflow};

use crate::arguments::Global;
use crate::{fail, run_command_line, workflows};

/// The program `irq`, with workflows of one's own.
#[must_use = "it does nothing before `main` is called"]
#[derive(Default)]
pub struct Program {
    embedded: Vec<Arc<dyn ErasedWorkflow>>,
}

/// The program `irq` with its built-in workflows.
pub fn program() -> Program {
    Program::default()
}

impl Program {
    /// The same, with a workflow of one's own. The first of them is what `run` executes if `--workflow` names none.
    pub fn workflow(mut self, workflow: impl Workflow) -> Self {
        self.embedded.push(Arc::new(workflow));
        self
    }

    /// Does what the command line says, and returns what the process is to end with: call it once, as all that `main`
    /// does. It starts a Tokio runtime of its own and listens to the signals of the process; in a process that
    /// supervises tools, it does only that.
    pub fn main(self) -> ExitCode {
        // A program is its own supervisor of tools.
        if let Some(code) = tools::main_if_keeper() {
            return code;
        }
        if let Err(failure) = workflows::embed(self.embedded) {
            return fail(failure.into(), Global::default()).into();
        }
        run_command_line()
    }
}
