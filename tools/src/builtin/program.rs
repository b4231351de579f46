//! What the tools that run programs have in common.

use std::ffi::OsString;
use std::path::PathBuf;

use interrupt_router::Outcome;

use crate::containment::{ContainedCommand, ContainedEnd, Containment, ToolEnvironment};
use crate::keeper::ProcessExit;
use crate::tool::{PartialOutput, Stopped, ToolContext, ToolError, ToolOutput, Verdict};

/// The kernel takes no longer argument than 128 KiB.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// How tools run programs.
#[derive(Debug, Clone)]
pub struct ProgramConfig {
    /// Contains the processes.
    pub containment: Containment,
    /// All that the programs see of our environment.
    pub environment: ToolEnvironment,
}

impl Default for ProgramConfig {
    /// The default containment, and of our environment what is no secret.
    fn default() -> Self {
        Self {
            containment: Containment::default(),
            environment: ToolEnvironment::allowed(),
        }
    }
}

/// One program to run.
pub(super) struct Program {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: ToolEnvironment,
    pub(super) directory: PathBuf,
}

impl Program {
    pub(super) async fn run(
        self,
        containment: &Containment,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
        let longest = self.arguments.iter().map(|argument| argument.len()).max();
        if longest > Some(LONGEST_ARGUMENT) {
            let reason = format!(
                "it is longer than {LONGEST_ARGUMENT} bytes; write it to a file and run that"
            );
            return Err(ToolError::Unusable { reason });
        }
        let command = ContainedCommand {
            program: self.program,
            arguments: self.arguments,
            environment: self.environment,
            directory: self.directory,
        };
        let outcome = containment
            .run(command, &context.scope, &*context.progress)
            .await?;
        Ok(match outcome {
            Outcome::Completed(end) => Outcome::Completed(output(end)),
            Outcome::Interrupted { reason, partial } => Outcome::Interrupted {
                reason,
                partial: PartialOutput {
                    text: written(&partial),
                    stopped: Stopped::of(&partial.report),
                    containment: Some(partial.report),
                },
            },
        })
    }
}

fn output(end: ContainedEnd) -> ToolOutput {
    let mut text = written(&end);
    let how = match end.exit {
        Some(ProcessExit::Code(0)) => None,
        Some(ProcessExit::Code(code)) => Some(format!("[it left with code {code}]")),
        Some(ProcessExit::Signal(signal)) => Some(format!("[signal {signal} ended it]")),
        None => Some("[nobody saw how it ended]".to_owned()),
    };
    let verdict = if how.is_some() {
        Verdict::Failed
    } else {
        Verdict::Done
    };
    push_line(&mut text, how.as_deref());
    ToolOutput {
        text,
        verdict,
        containment: Some(end.report),
    }
}

/// What it wrote: first its output, then its errors.
fn written(end: &ContainedEnd) -> String {
    let mut text = end.stdout.text();
    if !end.stderr.is_empty() {
        push_line(&mut text, Some("[on standard error:]"));
        push_line(&mut text, Some(&end.stderr.text()));
    }
    text
}

fn push_line(text: &mut String, line: Option<&str>) {
    let Some(line) = line else {
        return;
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}
