//! `shell` and `python` as an agent uses them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tools::{
    CallEnd, Executor, ExecutorConfig, Permission, PermissionPolicy, ProgramConfig, RequestedCall,
    Stopped, ToolMessage, WantedMechanism, built_in_tools,
};

use crate::scene::{Heard, by_user, containment, programs, workspace};

struct Stage {
    executor: Executor,
    heard: Arc<Heard>,
    folder: tempfile::TempDir,
}

fn stage(limit: Duration) -> Stage {
    let (folder, workspace) = workspace();
    let heard = Heard::new();
    let mut config = ExecutorConfig::new(workspace);
    for tool in built_in_tools(&programs()) {
        config.registry.register(tool).unwrap();
    }
    config.policy = PermissionPolicy::always(Permission::Allow);
    config.progress = Arc::clone(&heard) as Arc<dyn tools::ProgressSink>;
    config.limits.others = Some(limit);
    Stage {
        executor: Executor::new(config),
        heard,
        folder,
    }
}

impl Stage {
    async fn call(&self, tool: &str, arguments: serde_json::Value) -> ToolMessage {
        let call = RequestedCall::new("1", tool, arguments.to_string());
        let end = self.executor.execute(vec![call]).await.unwrap();
        end.messages.into_iter().next().unwrap()
    }
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_command_runs_in_the_workspace_and_says_how_it_ended() {
    let stage = stage(LONG);
    std::fs::create_dir(stage.folder.path().join("sub")).unwrap();
    let message = stage
        .call(
            "shell",
            json!({"command": "basename $PWD; echo oops >&2; exit 4", "directory": "sub"}),
        )
        .await;
    assert_eq!(
        message.text(),
        "The tool says that it failed:\nsub\n[on standard error:]\noops\n[it left with code 4]"
    );
    let quiet = stage.call("shell", json!({"command": "true"})).await;
    assert_eq!(quiet.text(), "(no output)");
}

#[tokio::test]
async fn a_command_does_not_start_outside_of_the_workspace() {
    let stage = stage(LONG);
    std::os::unix::fs::symlink("/", stage.folder.path().join("out")).unwrap();
    for directory in ["..", "/", "out", "out/tmp", "sub/../.."] {
        let message = stage
            .call("shell", json!({"command": "pwd", "directory": directory}))
            .await;
        assert!(
            matches!(message.end, CallEnd::Failed { .. }),
            "{directory}: {message:?}"
        );
    }
}

#[tokio::test]
async fn python_runs_a_text_or_a_file() {
    let stage = stage(LONG);
    std::fs::write(
        stage.folder.path().join("sum.py"),
        "import sys\nprint(sum(map(int, sys.argv[1:])))\n",
    )
    .unwrap();
    assert_eq!(
        stage
            .call("python", json!({"code": "print(6 * 7)"}))
            .await
            .text(),
        "42\n"
    );
    let file = stage
        .call(
            "python",
            json!({"file": "sum.py", "arguments": ["1", "2", "3"]}),
        )
        .await;
    assert_eq!(file.text(), "6\n");
    let neither = stage.call("python", json!({})).await;
    assert!(
        neither.text().contains("either `code` or `file`"),
        "{}",
        neither.text()
    );
}

#[tokio::test]
async fn an_interrupted_python_program_is_dead_and_what_it_had_printed_is_there() {
    let stage = stage(LONG);
    let code = "import subprocess, time\nsubprocess.Popen(['sleep', '1000'])\nprint('half way')\ntime.sleep(1000)";
    let interrupting = async {
        stage.heard.wait_for("half way", 1).await;
        stage
            .executor
            .config()
            .controller
            .cancel(by_user("enough"))
            .await
    };
    let (message, cancellation) =
        tokio::join!(stage.call("python", json!({"code": code})), interrupting);
    assert!(cancellation.all_stopped());
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{message:?}");
    };
    assert!(
        matches!(partial.stopped, Stopped::Verified { .. }),
        "{partial:?}"
    );
    assert_eq!(
        message.text().trim_end(),
        "Tool execution interrupted by the user: enough.\nWhat had come until then:\nhalf way"
    );
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_stopped_and_dead() {
    let stage = stage(Duration::from_millis(300));
    let message = stage
        .call("shell", json!({"command": "sleep 1000 & sleep 1000"}))
        .await;
    let CallEnd::TimedOut { partial, .. } = &message.end else {
        panic!("{message:?}");
    };
    assert!(
        matches!(partial.stopped, Stopped::Verified { .. }),
        "{partial:?}"
    );
}

#[tokio::test]
async fn an_argument_that_the_kernel_does_not_take_is_refused_with_the_remedy() {
    let stage = stage(LONG);
    let message = stage
        .call("shell", json!({"command": "x".repeat(200_000)}))
        .await;
    assert!(
        message.text().contains("write it to a file"),
        "{}",
        message.text()
    );
}

#[tokio::test]
async fn a_call_whose_keeper_was_killed_has_an_unknown_outcome_and_says_what_may_still_run() {
    let (folder, workspace) = workspace();
    let mut config = ExecutorConfig::new(workspace);
    let programs = ProgramConfig {
        containment: containment(WantedMechanism::Sweep),
        ..programs()
    };
    for tool in built_in_tools(&programs) {
        config.registry.register(tool).unwrap();
    }
    config.policy = PermissionPolicy::always(Permission::Allow);
    let stage = Stage {
        executor: Executor::new(config),
        heard: Heard::new(),
        folder,
    };
    let command = "setsid sleep 1000 & kill -9 $PPID; sleep 1000";
    let message = stage.call("shell", json!({ "command": command })).await;
    assert!(
        matches!(message.end, CallEnd::Unknown { .. }),
        "{message:?}"
    );
    for said in [message.text(), tools::wording::line(&message)] {
        assert!(said.contains("it may have been done"), "{said}");
        assert!(said.contains("Something of it may still run"), "{said}");
    }
    for left in crate::census::with_word(stage.folder.path().to_str().unwrap()) {
        let left = rustix::process::Pid::from_raw(i32::try_from(left).unwrap()).unwrap();
        rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
    }
}
