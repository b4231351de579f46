//! From an interrupt to all tools dead and recorded, for 1, 10 and 100 parallel calls, beside killing the same
//! processes by hand: `cargo bench -p interrupt-router-tools --bench stops`.
//!
//! Every call is a shell that waits, with a child that waits. By hand means: SIGKILL to each of the process groups,
//! then waiting until the shells are collected, which proves nothing about what left the group.

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on ends")]

use std::num::NonZeroUsize;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use interrupt_router::{StopMode, StopReason, StopSource};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::watch;
use tools::{
    CallEnd, Containment, ContainmentConfig, Executor, ExecutorConfig, Permission,
    PermissionPolicy, ProgramConfig, Progress, ProgressSink, RequestedCall, Shell, Stopped,
    WantedMechanism, Workspace,
};

/// The shell and its child, once both run.
const LINE: &str = "sleep 1000 & echo ready; wait";

/// So often each.
const TIMES: usize = 10;

struct Ready {
    seen: Mutex<usize>,
    count: watch::Sender<usize>,
}

impl ProgressSink for Ready {
    fn progress(&self, progress: Progress) {
        if let Progress::Output { text, .. } = progress {
            let mut seen = self.seen.lock().unwrap();
            *seen += text.matches("ready").count();
            self.count.send_replace(*seen);
        }
    }
}

fn reason() -> StopReason {
    StopReason {
        source: StopSource::User,
        mode: StopMode::Immediate,
        message: "bench".to_owned(),
        timestamp: jiff::Timestamp::now(),
    }
}

async fn interrupted(calls: usize, wanted: WantedMechanism, workspace: &Workspace) -> Duration {
    let ready = Arc::new(Ready {
        seen: Mutex::new(0),
        count: watch::Sender::new(0),
    });
    let programs = ProgramConfig {
        containment: Containment::new(ContainmentConfig {
            keeper: PathBuf::from(env!("CARGO_BIN_EXE_tool-keeper")),
            wanted,
            ..ContainmentConfig::default()
        }),
        ..ProgramConfig::default()
    };
    let mut config = ExecutorConfig::new(workspace.clone());
    config
        .registry
        .register(Arc::new(Shell::new(programs)))
        .unwrap();
    config.policy = PermissionPolicy::always(Permission::Allow);
    config.at_once = NonZeroUsize::new(calls).unwrap();
    config.progress = Arc::clone(&ready) as Arc<dyn ProgressSink>;
    let controller = config.controller.clone();
    let executor = Executor::new(config);
    let arguments = serde_json::json!({"command": LINE}).to_string();
    let requests: Vec<RequestedCall> = (0..calls)
        .map(|number| RequestedCall::new(number.to_string(), "shell", arguments.clone()))
        .collect();
    let running = tokio::spawn(async move { executor.execute(requests).await });
    let mut count = ready.count.subscribe();
    count.wait_for(|count| *count == calls).await.unwrap();
    let start = Instant::now();
    controller.request(reason());
    let end = running.await.unwrap().unwrap();
    let took = start.elapsed();
    for message in end.messages {
        let CallEnd::Interrupted { partial, .. } = message.end else {
            panic!("a call was not interrupted");
        };
        assert!(matches!(partial.stopped, Stopped::Verified { .. }));
    }
    took
}

fn by_hand(calls: usize) -> Duration {
    use std::io::{BufRead as _, BufReader};
    let spawn = |_number| {
        let mut command = Command::new("bash");
        command
            .args(["-c", LINE])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0);
        command.spawn().unwrap()
    };
    let mut children: Vec<_> = (0..calls).map(spawn).collect();
    for child in &mut children {
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
    }
    let start = Instant::now();
    for child in &children {
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process_group(group, Signal::KILL).unwrap();
    }
    for child in &mut children {
        child.wait().unwrap();
    }
    start.elapsed()
}

fn print(what: &str, calls: usize, mut took: Vec<Duration>) {
    took.sort_unstable();
    println!(
        "{what:28} {calls:4} calls: p50 {:>12?}, max {:>12?}",
        took[took.len() / 2],
        took[took.len() - 1]
    );
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    for calls in [1, 10, 100] {
        for (what, wanted) in [
            ("interrupt, best mechanism", WantedMechanism::Best),
            ("interrupt, sweep", WantedMechanism::Sweep),
        ] {
            let took =
                (0..TIMES).map(|_time| runtime.block_on(interrupted(calls, wanted, &workspace)));
            print(what, calls, took.collect());
        }
        print(
            "SIGKILL by hand, unverified",
            calls,
            (0..TIMES).map(|_time| by_hand(calls)).collect(),
        );
    }
}
