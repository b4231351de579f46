//! Hooks that a policy names: programs that are started before and after stops.
//!
//! A program reads what it is about as one JSON object from its standard input. Its time is the policy's
//! `handler_limit`; when that is over, it and all of its process group are killed. The stop proceeds in any case.
//! Its errors are reported and have no other effect.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::RunId;
use interrupts::KindName;
use interrupts::hooks::{Hook, HookError, HookStops, HookTrigger};
use interrupts::manager::{StopCause, StopNote, StopRequest, Target};
use interrupts::policy::{HookCommand, Policy, Subject};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::visible::visible_line;
use crate::workflows;

/// How much of a failed program's output is shown.
const MOST_SAID: u64 = 2_000;

/// The variable that tells a program, and what it starts, that it is a hook: a stop that such a program asks for
/// calls no hook, so hooks cannot chase each other for ever.
pub(crate) const VARIABLE: &str = "IRQ_HOOK";

/// Whether this process was started by a hook.
pub(crate) fn is_of_hook() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|name| !name.is_empty())
}

/// Starts the programs that a policy names.
pub(crate) struct CommandHook {
    policy: Arc<Policy>,
    /// The only run of this process, if it has just one.
    run: Option<RunId>,
    tell: Box<dyn Fn(String) + Send + Sync>,
}

/// What a program is started for.
struct HookCall<'moment> {
    name: &'static str,
    command: &'moment HookCommand,
    subject: Subject,
    cause: Option<StopCause>,
    about: Value,
}

impl CommandHook {
    /// The hooks of a policy; `None` if it names none. Their errors are reported.
    pub(crate) fn of(
        policy: &Arc<Policy>,
        tell: impl Fn(String) + Send + Sync + 'static,
    ) -> Option<Self> {
        (!policy.hooks().is_empty()).then(|| Self {
            policy: Arc::clone(policy),
            run: None,
            tell: Box::new(tell),
        })
    }

    /// The same in a process that has only this run: a stop of everything there stops it.
    #[must_use]
    pub(crate) fn of_run(self, run: RunId) -> Self {
        Self {
            run: Some(run),
            ..self
        }
    }

    /// What is to be started at a moment.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list of moments may grow; a policy names programs for these two"
    )]
    fn call(&self, moment: &HookTrigger) -> Result<Option<HookCall<'_>>, HookError> {
        let commands = self.policy.hooks();
        Ok(match moment {
            HookTrigger::BeforeInterrupt { request } => match &commands.before_stop {
                Some(command) => Some(before(command, request, self.run)?),
                None => None,
            },
            HookTrigger::AfterInterrupt { interrupt } => {
                commands.after_stop.as_ref().map(|command| {
                    let note = serde_json::from_str::<StopNote>(&interrupt.content).ok();
                    HookCall {
                        name: "after_stop",
                        command,
                        subject: Subject::of(interrupt),
                        cause: note.map(|note| note.cause),
                        about: crate::view::interrupt(interrupt),
                    }
                })
            }
            _ => None,
        })
    }
}

fn before<'hook>(
    command: &'hook HookCommand,
    request: &StopRequest,
    only: Option<RunId>,
) -> Result<HookCall<'hook>, HookError> {
    let (run, agent) = match &request.target {
        Target::Everything => (only.as_ref(), None),
        Target::Run(run) => (Some(run), None),
        Target::Node(run, node) => (Some(run), Some(node)),
    };
    Ok(HookCall {
        name: "before_stop",
        command,
        subject: Subject {
            interrupt_type: request.kind.into(),
            agent: match workflows::leading() {
                Some(kind) => kind,
                None => KindName::new("AGENT")?,
            },
            source: request.source,
        },
        cause: Some(request.cause),
        about: json!({
            "run_id": run,
            "agent_id": agent,
            "type": request.kind,
            "mode": request.mode,
            "source": request.source,
            "cause": request.cause,
            "reason": request.message,
            "requested_by": request.by,
        }),
    })
}

#[async_trait]
impl Hook for CommandHook {
    fn name(&self) -> &str {
        "hooks of the policy"
    }

    async fn on(&self, moment: &HookTrigger, _stops: &HookStops) -> Result<(), HookError> {
        let Some(call) = self.call(moment)? else {
            return Ok(());
        };
        if call.cause == Some(StopCause::Hook) {
            return Ok(());
        }
        let limit = self
            .policy
            .terms(&call.subject)
            .handler_limit
            .unsigned_abs();
        let ended = started(&call, limit).await;
        ended.map_err(|problem| {
            let name = call.name;
            let problem = visible_line(&problem.to_string());
            (self.tell)(format!(
                "the hook {name} failed: {problem}; the stop goes on without it"
            ));
            problem.into()
        })
    }
}

/// Why a program did not do its work.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("{program} cannot be started: {source}")]
    NotStarted {
        program: String,
        #[source]
        source: io::Error,
    },
    #[error("it cannot be waited for: {0}")]
    Lost(#[source] io::Error),
    #[error("it took longer than {limit:?} and was killed")]
    TooLong { limit: Duration },
    #[error("it ended with {status}{said}")]
    Ended { status: ExitStatus, said: String },
}

/// Starts a program and waits until it has ended, or its time is over.
async fn started(call: &HookCall<'_>, limit: Duration) -> Result<(), Failed> {
    let HookCommand { program, arguments } = call.command;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env(VARIABLE, call.name)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // A group of its own: Ctrl+C at the terminal is not meant for it, and it ends with what it started.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|source| Failed::NotStarted {
        program: program.clone(),
        source,
    })?;
    let about = call.about.to_string();
    match tokio::time::timeout(limit, talked(&mut child, about.as_bytes())).await {
        Ok(Ok((status, _said))) if status.success() => Ok(()),
        Ok(Ok((status, said))) => Err(Failed::Ended { status, said }),
        Ok(Err(error)) => Err(Failed::Lost(error)),
        Err(_elapsed) => {
            kill(&mut child).await;
            Err(Failed::TooLong { limit })
        }
    }
}

/// Sends the program its input, and returns how it ended and its error output.
async fn talked(child: &mut Child, about: &[u8]) -> io::Result<(ExitStatus, String)> {
    let mut said = Vec::new();
    let input = child.stdin.take();
    let errors = child.stderr.take();
    let hand_over = async {
        if let Some(mut input) = input {
            // A program need not read its input.
            let _not_read = input.write_all(about).await;
        }
    };
    let listen = async {
        if let Some(errors) = errors {
            let _as_far_as_it_came = errors.take(MOST_SAID).read_to_end(&mut said).await;
        }
    };
    let ((), (), status) = tokio::join!(hand_over, listen, child.wait());
    let said = String::from_utf8_lossy(&said);
    let said = match said.trim() {
        "" => String::new(),
        said => format!(": {said}"),
    };
    Ok((status?, said))
}

/// Kills a program with its process group.
async fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(rustix::process::Pid::from_raw)
    {
        // It may have ended at this moment.
        let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _gone = child.kill().await;
}
