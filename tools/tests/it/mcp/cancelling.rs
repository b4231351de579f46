//! A call that is cancelled: what the server does, and what is said of it.

use std::time::Duration;

use serde_json::json;
use tools::{CallEnd, Progress, RequestedCall, Stopped};

use super::stage::{Sdk, Setting, Stage, Way, finished, is_alive};
use crate::scene::by_user;

on_all! {
    a_call_tells_of_its_progress_and_is_answered => answered,
    a_call_that_is_cancelled_half_way_stops_in_the_server_which_serves_the_next => half_way,
    a_server_that_ignores_a_cancellation_is_ended_where_it_is_ours => ignored,
    fifty_cancelled_calls_leave_no_request_no_task_and_no_process => fifty,
    a_call_that_takes_too_long_is_cancelled_too => too_long,
}

async fn answered(sdk: Sdk, way: Way) {
    let stage = Stage::new(sdk, way).await;
    let message = stage
        .call("work", json!({"name": "a", "seconds": 0.1}))
        .await;
    assert_eq!(finished(&message), "a has worked");
    let steps = stage.steps.all();
    let expected = (1..=5_u32).map(|step| Progress::Step {
        done: step.into(),
        total: Some(5.0),
        message: Some("working".to_owned()),
    });
    assert_eq!(steps, expected.collect::<Vec<_>>());
}

async fn half_way(sdk: Sdk, way: Way) {
    let stage = Stage::new(sdk, way).await;
    let work = json!({"name": "a", "seconds": 60});
    let message = stage.interrupted("work", work, "a step 5").await;
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert!(
        matches!(partial.stopped, Stopped::Quiet | Stopped::Returned),
        "{partial:?}"
    );
    assert!(partial.text.contains(" of 3000: working"), "{partial:?}");
    stage.wait_for("a cancelled").await;
    let steps = stage.count("a step");
    let next = stage
        .call("work", json!({"name": "b", "seconds": 0.1}))
        .await;
    assert_eq!(finished(&next), "b has worked");
    assert_eq!(stage.count("a step"), steps, "it goes on");
    assert_eq!(stage.pids().len(), 1, "it is the same process");
}

/// On a busy machine, that a server is quiet for a quarter of a second says nothing.
fn on_a_busy_machine() -> Setting {
    Setting {
        more: "limits = { cancel = \"3s\", quiet = \"1s\" }".to_owned(),
        ..Setting::default()
    }
}

async fn ignored(sdk: Sdk, way: Way) {
    let stage = Stage::with(sdk, way, on_a_busy_machine()).await;
    let work = json!({"name": "a", "seconds": 60});
    let message = stage.interrupted("ignore", work, "a step 5").await;
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    let first = stage.pids()[0];
    match way {
        Way::Stdio => {
            assert!(
                matches!(partial.stopped, Stopped::Verified { .. }),
                "{partial:?}"
            );
            assert!(!is_alive(first));
        }
        Way::Http => {
            let Stopped::LeftBehind { reason } = &partial.stopped else {
                panic!("{partial:?}");
            };
            assert!(reason.contains("went on to tell of progress"), "{reason}");
            assert!(is_alive(first), "it is not ours to end");
        }
    }
    let next = stage
        .call("work", json!({"name": "b", "seconds": 0.04}))
        .await;
    assert_eq!(finished(&next), "b has worked");
    assert_eq!(stage.pids().len(), if way == Way::Stdio { 2 } else { 1 });
}

async fn fifty(sdk: Sdk, way: Way) {
    // Ten calls at once on a busy machine: that one is quiet for a quarter of a second says nothing then.
    let setting = Setting {
        more: "limits = { cancel = \"20s\", quiet = \"2s\" }".to_owned(),
        ..Setting::default()
    };
    let stage = Stage::with(sdk, way, setting).await;
    let controller = &stage.executor.config().controller;
    // What the first calls open once stays open.
    rounds(&stage, 0..1).await;
    settled(&stage).await;
    let metrics = tokio::runtime::Handle::current().metrics();
    let (tasks, files) = (metrics.num_alive_tasks(), open_files());
    rounds(&stage, 1..6).await;
    assert_eq!(controller.running(), 0);
    stage
        .wait_until("60 cancelled calls", || {
            stage
                .log()
                .iter()
                .filter(|line| line.ends_with("cancelled"))
                .count()
                == 60
        })
        .await;
    stage
        .wait_until("as few tasks and files as before", || {
            metrics.num_alive_tasks() <= tasks && open_files() <= files
        })
        .await;
    assert_eq!(stage.pids().len(), 1, "it is the same process");
    let next = stage
        .call("work", json!({"name": "last", "seconds": 0.04}))
        .await;
    assert_eq!(finished(&next), "last has worked");
    assert_eq!(stage.counts.late_results(), 0);
    let pid = stage.pids()[0];
    let ends = stage.servers.close().await;
    if way == Way::Stdio {
        assert!(ends[0].1.verified, "{ends:?}");
        assert!(!is_alive(pid));
        let left = crate::census::with_word(stage.folder.path().to_str().unwrap());
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Rounds of ten calls at once that are all cancelled while they run.
async fn rounds(stage: &Stage, rounds: std::ops::Range<usize>) {
    for round in rounds {
        let names: Vec<String> = (0..10).map(|call| format!("r{round}c{call}")).collect();
        let calls = names.iter().map(|name| {
            let work = json!({"name": name, "seconds": 60}).to_string();
            RequestedCall::new(name, "s__work", work)
        });
        let interrupting = async {
            for name in &names {
                stage.wait_for(&format!("{name} step 2")).await;
            }
            stage
                .executor
                .config()
                .controller
                .cancel(by_user("enough"))
                .await
        };
        let (end, _cancellation) =
            tokio::join!(stage.executor.execute(calls.collect()), interrupting);
        for message in end.unwrap().messages {
            let CallEnd::Interrupted { partial, .. } = &message.end else {
                panic!("{:?}", message.end);
            };
            assert!(!message.end.left_behind(), "{partial:?}");
        }
    }
}

/// Waits until the library has tidied up behind itself.
async fn settled(stage: &Stage) {
    stage.wait_for("r0c9 cancelled").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

async fn too_long(sdk: Sdk, way: Way) {
    let setting = Setting {
        limit: Duration::from_millis(700),
        ..Setting::default()
    };
    let stage = Stage::with(sdk, way, setting).await;
    let message = stage
        .call("work", json!({"name": "a", "seconds": 60}))
        .await;
    let CallEnd::TimedOut { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert!(
        !matches!(partial.stopped, Stopped::LeftBehind { .. }),
        "{partial:?}"
    );
    stage.wait_for("a cancelled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_beside_one_that_is_ignored_fail_and_say_why() {
    let stage = Stage::with(Sdk::Python, Way::Stdio, on_a_busy_machine()).await;
    let beside = async {
        stage.wait_for("b step 1").await;
        // Another executor, as of another agent: its call is not interrupted.
        let other = tools::Executor::new(tools::ExecutorConfig {
            controller: tools::InterruptController::new(tools::ControllerConfig::default()),
            ..stage.executor.config().clone()
        });
        let work = json!({"name": "c", "seconds": 60}).to_string();
        let end = other
            .execute(vec![RequestedCall::new("1", "s__work", work)])
            .await;
        end.unwrap().messages.remove(0)
    };
    let work = json!({"name": "b", "seconds": 60});
    let interrupted = stage.interrupted("ignore", work, "c step 1");
    let (beside, _interrupted) = tokio::join!(beside, interrupted);
    let text = beside.text();
    assert!(
        text.contains("the MCP server `s` ended: it was ended"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_goes_on_unseen_is_not_said_to_have_ended() {
    let stage = Stage::new(Sdk::Node, Way::Stdio).await;
    let work = json!({"name": "a", "seconds": 60});
    let message = stage.interrupted("hide", work, "a step 5").await;
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert_eq!(partial.stopped, Stopped::Quiet);
    let steps = stage.count("a step");
    stage
        .wait_until("step", || stage.count("a step") > steps)
        .await;
    let text = message.text();
    assert!(
        text.contains("told to stop, and has been quiet since"),
        "{text}"
    );
}
