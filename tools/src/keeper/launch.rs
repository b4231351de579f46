//! Starting the tool: a last stage of our own program that puts itself where the tool belongs, then becomes it.
//!
//! What has to happen between fork and exec happens here after an exec of our own, in ordinary code.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use serde::{Deserialize, Serialize};

use super::cgroup;
use super::order::{Input, Order};

/// The first argument of the stage.
pub(super) const LAUNCH: &str = "--irq-tool-launch";

/// The stage's word for an input that comes from where the output goes.
const TALKS: &str = "talks";

/// Why the stage did not become the tool.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub(super) enum LaunchFault {
    /// The control group did not take it; another mechanism may be tried.
    #[error("failed to enter the control group: {0}")]
    Group(String),
    /// It cannot be done at all.
    #[error("{0}")]
    Program(String),
}

/// Starts the tool, and returns once it runs or did not.
pub(super) fn launch(order: &Order, group: Option<&Path>) -> Result<Pid, LaunchFault> {
    let fault = |error: io::Error| LaunchFault::Program(error.to_string());
    let (mut report, theirs) = UnixStream::pair().map_err(fault)?;
    let mut stage = Command::new("/proc/self/exe");
    stage
        .arg0("irq-tool")
        .arg(LAUNCH)
        .arg(getpid().as_raw_nonzero().to_string())
        .arg(group.unwrap_or(Path::new("")))
        .arg(match order.input {
            Input::Nothing => "",
            Input::Output => TALKS,
        })
        .arg(&order.program)
        .args(&order.arguments)
        .env_clear()
        .envs(order.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&order.directory)
        .stdin(Stdio::from(OwnedFd::from(theirs)));
    let child = stage.spawn().map_err(fault)?;
    // The command still has the other end.
    drop(stage);
    let mut said = String::new();
    report.read_to_string(&mut said).map_err(fault)?;
    if said.is_empty() {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        return pid.ok_or_else(|| LaunchFault::Program("the process has no pid".to_owned()));
    }
    let mut child = child;
    let _ended = child.wait();
    Err(serde_json::from_str(&said).unwrap_or(LaunchFault::Program(said)))
}

/// The stage itself. Returns only where it could not become the tool.
pub(super) fn become_tool(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    // A duplicate is closed by exec, so the keeper sees the end of it when the tool runs.
    let Ok(report) = io::stdin().as_fd().try_clone_to_owned() else {
        return ExitCode::FAILURE;
    };
    let fault = try_become(&mut arguments);
    if let Ok(text) = serde_json::to_string(&fault) {
        let _nobody_listens = UnixStream::from(report).write_all(text.as_bytes());
    }
    ExitCode::FAILURE
}

fn try_become(arguments: &mut impl Iterator<Item = OsString>) -> LaunchFault {
    let (Some(keeper), Some(group), Some(input), Some(program)) = (
        arguments.next(),
        arguments.next(),
        arguments.next(),
        arguments.next(),
    ) else {
        let needs = "the stage needs a keeper, a group, an input and a program";
        return LaunchFault::Program(needs.to_owned());
    };
    let input = if input == TALKS {
        Input::Output
    } else {
        Input::Nothing
    };
    if let Err(fault) = prepare(&keeper, &group, input) {
        return fault;
    }
    let error = Command::new(&program).args(arguments).exec();
    LaunchFault::Program(format!("`{}` cannot be run: {error}", program.display()))
}

fn prepare(keeper: &OsStr, group: &OsStr, input: Input) -> Result<(), LaunchFault> {
    let fault = |error: io::Error| LaunchFault::Program(error.to_string());
    // A keeper that is killed takes the tool's first process with it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| fault(error.into()))?;
    let parent = getppid().map(|pid| pid.as_raw_nonzero().to_string());
    if parent.as_deref().map(OsStr::new) != Some(keeper) {
        return Err(LaunchFault::Program("the keeper has died".to_owned()));
    }
    // No terminal, and no signal that a terminal sends.
    setsid().map_err(|error| fault(error.into()))?;
    if !group.is_empty() {
        cgroup::enter(Path::new(group)).map_err(|error| LaunchFault::Group(error.to_string()))?;
    }
    let replaced = match input {
        Input::Nothing => {
            rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null").map_err(fault)?)
        }
        Input::Output => rustix::stdio::dup2_stdin(io::stdout()),
    };
    replaced.map_err(|error| fault(error.into()))
}
