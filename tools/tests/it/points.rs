//! An interrupt at every point of a script of parallel, queued and nested calls.
//!
//! P15: each call has exactly one end, and what never started is skipped. P16: what is reported as stopped has
//! stopped. P17: nothing runs when the turn has its messages. P18: what a stopped call had launched is stopped too,
//! and launches nothing more.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::Outcome;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;
use tools::{
    CallEnd, CallLimits, ControllerConfig, Executor, ExecutorConfig, InterruptController,
    Interruption, LaunchAgent, LaunchRequest, LaunchedAgent, Launcher, LauncherError, Permission,
    PermissionPolicy, RequestedCall, Stopped, ToolContext, ToolMessage, Workspace,
};

use crate::scene::{by_user, workspace};
use crate::scripted::{Log, Scripted, takes};

/// How long a call may take to end once it is told to.
const LIMIT: u64 = 10;

/// What one call of the script is.
#[derive(Debug, Clone)]
enum Step {
    /// Takes so long, and ends so long after it was told to; or does not listen.
    Work { ms: u64, heeds: Option<u64> },
    /// Must not be cut in half.
    Whole { ms: u64 },
    /// Launches an agent that makes these calls, one after the other.
    Launch { inner: Vec<u64> },
}

impl Step {
    fn request(&self, number: usize) -> RequestedCall {
        let id = number.to_string();
        match self {
            Self::Work { ms, heeds } => {
                RequestedCall::new(id, "work", json!({"ms": ms, "heeds": heeds}).to_string())
            }
            Self::Whole { ms } => RequestedCall::new(id, "whole", json!({"ms": ms}).to_string()),
            Self::Launch { inner } => {
                let task = serde_json::to_string(inner).unwrap();
                RequestedCall::new(
                    id.clone(),
                    "launch_agent",
                    json!({"agent": "child", "task": format!("{id} {task}")}).to_string(),
                )
            }
        }
    }

    fn length(&self) -> u64 {
        match self {
            Self::Work { ms, .. } | Self::Whole { ms } => *ms,
            Self::Launch { inner } => inner.iter().sum(),
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let heeds = prop_oneof![3 => Just(Some(0)), 1 => (1_u64..8).prop_map(Some), 1 => Just(None)];
    prop_oneof![
        4 => (0_u64..20, heeds).prop_map(|(ms, heeds)| Step::Work { ms, heeds }),
        1 => (0_u64..20).prop_map(|ms| Step::Whole { ms }),
        1 => proptest::collection::vec(1_u64..8, 1..4).prop_map(|inner| Step::Launch { inner }),
    ]
}

/// An agent that makes calls of its own, under the scope of whoever launched it.
struct Child {
    log: Arc<Log>,
    workspace: Workspace,
}

#[async_trait]
impl Launcher for Child {
    fn agents(&self) -> Vec<String> {
        vec!["child".to_owned()]
    }

    async fn launch(
        &self,
        request: LaunchRequest,
        context: &ToolContext,
    ) -> Result<Outcome<LaunchedAgent, LaunchedAgent>, LauncherError> {
        let (id, task) = request.task.split_once(' ').unwrap();
        let lengths: Vec<u64> = serde_json::from_str(task).unwrap();
        let mut config = config(&self.log, self.workspace.clone(), 1);
        config.controller = InterruptController::new(ControllerConfig {
            scope: context.scope.clone(),
            limit: Duration::from_millis(LIMIT / 2),
            ..ControllerConfig::default()
        });
        let calls = lengths
            .iter()
            .enumerate()
            .map(|(inner, ms)| takes(&format!("{id}.{inner}"), *ms));
        let end = Executor::new(config)
            .execute(calls.collect())
            .await
            .unwrap();
        check_calls(&end.messages, &self.log);
        let answer = LaunchedAgent {
            node: None,
            answer: format!("{} calls", end.messages.len()),
        };
        Ok(match end.interrupted {
            Some(reason) => Outcome::Interrupted {
                reason,
                partial: answer,
            },
            None => Outcome::Completed(answer),
        })
    }
}

fn config(log: &Arc<Log>, workspace: Workspace, at_once: usize) -> ExecutorConfig {
    let mut config = ExecutorConfig::new(workspace);
    for (name, interruption) in [
        ("work", Interruption::Stops),
        ("whole", Interruption::Waits),
    ] {
        config
            .registry
            .register(Scripted::new(name, interruption, log))
            .unwrap();
    }
    config.policy = PermissionPolicy::always(Permission::Allow);
    config.at_once = NonZeroUsize::new(at_once).unwrap();
    config.limits = CallLimits {
        others: None,
        ..CallLimits::default()
    };
    config
}

/// P15 and P16 of what can be told from messages and the log alone.
fn check_calls(messages: &[ToolMessage], log: &Log) {
    for message in messages {
        let id = &message.call;
        let (started, finished, stopped) = (
            log.has(&format!("{id} started")),
            log.has(&format!("{id} finished")),
            log.has(&format!("{id} stopped")),
        );
        match &message.end {
            CallEnd::Finished { .. } | CallEnd::FinishedAnyway { .. } => {
                assert!(started && finished, "{message:?}")
            }
            CallEnd::Skipped { .. } => assert!(!started, "{message:?}"),
            CallEnd::Interrupted { partial, .. } => match partial.stopped {
                Stopped::Returned => assert!(started && stopped && !finished, "{message:?}"),
                Stopped::LeftBehind { .. } => {
                    assert!(started && !stopped && !finished, "{message:?}")
                }
                Stopped::Verified { .. } | Stopped::Quiet => {
                    panic!("it has no processes and no server: {message:?}")
                }
            },
            CallEnd::Failed { .. }
            | CallEnd::FailedAnyway { .. }
            | CallEnd::Denied { .. }
            | CallEnd::TimedOut { .. }
            | CallEnd::Unknown { .. } => {
                panic!("nothing in the script ends like this: {message:?}")
            }
        }
    }
}

async fn run(steps: &[Step], at_once: usize, point: u64, twice: bool) {
    let (_folder, workspace) = workspace();
    let log = Arc::new(Log::default());
    let mut config = config(&log, workspace.clone(), at_once);
    let child = Child {
        log: Arc::clone(&log),
        workspace,
    };
    config
        .registry
        .register(Arc::new(LaunchAgent::new(Arc::new(child))))
        .unwrap();
    config.controller = InterruptController::new(ControllerConfig {
        limit: Duration::from_millis(LIMIT),
        ..ControllerConfig::default()
    });
    let controller = config.controller.clone();
    let executor = Executor::new(config);
    let calls: Vec<RequestedCall> = steps
        .iter()
        .enumerate()
        .map(|(number, step)| step.request(number))
        .collect();
    let interrupting = async {
        tokio::time::sleep(Duration::from_millis(point)).await;
        controller.request(by_user("stop"));
        let started = starts(&log);
        if twice {
            controller.request(by_user("stop, I said"));
        }
        controller.cancel(by_user("wait")).await;
        started
    };
    let begun = Instant::now();
    let (end, started) = tokio::join!(executor.execute(calls), interrupting);
    let (end, took) = (end.unwrap(), begun.elapsed());
    check_messages(&end.messages, steps.len(), &log);
    if end.messages.iter().any(|message| message.end.left_behind()) {
        // What was given up is dropped by the runtime, a moment later.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(
        (log.running(), controller.running()),
        (0, 0),
        "P17: nothing runs"
    );
    if end.interrupted.is_some() {
        assert_eq!(
            starts(&log),
            started,
            "P18: nothing starts after the mark, neither here nor below"
        );
        let bound = Duration::from_millis(point + LIMIT.max(longest_whole(steps)) + 2);
        assert!(took <= bound, "{took:?} for {point}");
    } else {
        let mut ends = end.messages.iter().map(|message| &message.end);
        assert!(ends.all(|end| matches!(end, CallEnd::Finished { .. })));
    }
}

/// P15 of the whole turn, and what can be told of the calls that launched nobody.
fn check_messages(messages: &[ToolMessage], calls: usize, log: &Log) {
    let ids: Vec<&str> = messages
        .iter()
        .map(|message| message.call.as_str())
        .collect();
    let expected: Vec<String> = (0..calls).map(|number| number.to_string()).collect();
    assert_eq!(
        ids, expected,
        "P15: one message for each call, in their order"
    );
    let of_tools = messages
        .iter()
        .filter(|message| message.tool != "launch_agent");
    check_calls(&of_tools.cloned().collect::<Vec<_>>(), log);
}

/// How long the longest call takes that an interrupt waits for.
fn longest_whole(steps: &[Step]) -> u64 {
    let lengths = steps.iter().map(|step| match step {
        Step::Whole { ms } => *ms,
        Step::Work { .. } | Step::Launch { .. } => 0,
    });
    lengths.max().unwrap_or(0)
}

fn starts(log: &Log) -> usize {
    log.lines()
        .iter()
        .filter(|line| line.ends_with("started"))
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn an_interrupt_at_any_point_of_any_script_keeps_the_promises(
        steps in proptest::collection::vec(step(), 1..6), at_once in 1_usize..4, twice in any::<bool>()
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let whole: u64 = steps.iter().map(Step::length).sum();
        for point in 0..=whole + 1 {
            runtime.block_on(run(&steps, at_once, point, twice));
        }
    }
}
