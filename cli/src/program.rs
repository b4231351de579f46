//! A program with workflows of its own.

use std::process::ExitCode;
use std::sync::Arc;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory as _};
use control::as_called;
use engine::{ErasedWorkflow, Workflow};

use crate::arguments::{Arguments, Global};
use crate::{fail, run_command_line, workflows};

/// The program `irq`, or one with workflows of its own, which is called by the name of its file.
#[must_use = "it does nothing before `main` is called"]
#[derive(Default)]
pub struct Program {
    embedded: Vec<Arc<dyn ErasedWorkflow>>,
    identity: Identity,
}

/// What a program with workflows of its own says of itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Identity {
    pub(crate) version: Option<&'static str>,
    pub(crate) about: Option<&'static str>,
    pub(crate) has_built_in: bool,
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

    /// What `--version` prints behind the program's name: `env!("CARGO_PKG_VERSION")`. Without it, that is the version of
    /// Interrupt Router.
    pub const fn version(mut self, version: &'static str) -> Self {
        self.identity.version = Some(version);
        self
    }

    /// The first line of its help and its manual page.
    pub const fn about(mut self, about: &'static str) -> Self {
        self.identity.about = Some(about);
        self
    }

    /// With the built-in workflows beside your own. A program without workflows of its own always has them.
    pub const fn with_built_in_workflows(mut self) -> Self {
        self.identity.has_built_in = true;
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
        if let Err(failure) = workflows::embed(self.embedded, self.identity) {
            return fail(failure.into(), Global::default()).into();
        }
        run_command_line()
    }
}

/// The command line as the program describes itself: `irq`, or one with workflows of its own.
pub(crate) fn described() -> Command {
    let command = Arguments::command();
    let Some((name, version, about)) = workflows::identity() else {
        return command;
    };
    renamed(command).name(name).version(version).about(about)
}

/// All its texts, with the program's own name in the commands that they mention.
fn renamed(mut command: Command) -> Command {
    let own = |text: Option<&StyledStr>| text.map(|text| as_called(&text.to_string()));
    if let Some(text) = own(command.get_about()) {
        command = command.about(text);
    }
    if let Some(text) = own(command.get_long_about()) {
        command = command.long_about(text);
    }
    if let Some(text) = own(command.get_after_help()) {
        command = command.after_help(text);
    }
    let of_argument = |argument: Arg| {
        let (help, long) = (own(argument.get_help()), own(argument.get_long_help()));
        let argument = match help {
            Some(text) => argument.help(text),
            None => argument,
        };
        match long {
            Some(text) => argument.long_help(text),
            None => argument,
        }
    };
    command.mut_args(of_argument).mut_subcommands(renamed)
}
