//! A server that does what no real one would.

use std::time::Duration;

use serde_json::json;
use tools::{CallEnd, Stopped};

use super::stage::{Setting, Stage, finished, is_alive};

async fn odd() -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let table = format!(
        "command = \"python3\"\nargs = [{}]\nenv = {{ LOG = {} }}\n\
         limits = {{ cancel = \"500ms\", quiet = \"100ms\", message_bytes = 100000 }}",
        json!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/odd.py")),
        json!(folder.path().join("log"))
    );
    Stage::of(&table, &Setting::default(), folder).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_message_is_passed_over() {
    let stage = odd().await;
    assert_eq!(
        finished(&stage.call("noise", json!({})).await),
        "after the noise"
    );
    assert_eq!(finished(&stage.call("plain", json!({})).await), "plain");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_too_long_ends_the_server_and_is_the_reason() {
    let stage = odd().await;
    let text = stage.call("huge", json!({})).await.text();
    assert!(
        text.contains("more than 100000 bytes; raise `limits.message_bytes`"),
        "{text}"
    );
    assert_eq!(finished(&stage.call("plain", json!({})).await), "plain");
    assert_eq!(stage.pids().len(), 2);
    assert!(!is_alive(stage.pids()[0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_errors_hold_up_nothing_and_only_their_end_is_kept() {
    let stage = odd().await;
    assert_eq!(finished(&stage.call("flood", json!({})).await), "flooded");
    let text = stage.call("die", json!({})).await.text();
    assert!(text.contains("last word"), "{text}");
    assert!(text.len() < 6000, "{}", text.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_no_result_is_a_failure() {
    let stage = odd().await;
    for (tool, part) in [("strange", "no result of a tool"), ("refuse", "not today")] {
        let text = stage.call(tool, json!({})).await.text();
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_comes_after_all_adds_nothing_and_is_counted() {
    let stage = odd().await;
    let message = stage.interrupted("late", json!({}), "late waits").await;
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert_eq!(partial.stopped, Stopped::Quiet);
    stage
        .wait_until("late result", || stage.counts.late_results() == 1)
        .await;
    // It said nothing and went on: its silence means nothing any more.
    let message = stage
        .interrupted("late", json!({}), "late waits again")
        .await;
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert!(
        matches!(partial.stopped, Stopped::Verified { .. }),
        "{partial:?}"
    );
    assert_eq!(stage.counts.late_results(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_crosses_the_cancellation_is_the_result() {
    let stage = odd().await;
    let message = stage
        .interrupted("crossing", json!({}), "crossing waits")
        .await;
    let CallEnd::FinishedAnyway { output, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert_eq!(output.text, "crossed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_as_the_answer_to_a_cancellation_is_its_end() {
    let stage = odd().await;
    let message = stage
        .interrupted("obedient", json!({}), "obedient waits")
        .await;
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert_eq!(partial.stopped, Stopped::Returned);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_takes_nothing_any_more_is_ended() {
    let stage = odd().await;
    let message = stage.interrupted("deaf", json!({}), "deaf waits").await;
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert!(
        matches!(partial.stopped, Stopped::Verified { .. }),
        "{partial:?}"
    );
    tokio::time::timeout(Duration::from_secs(10), stage.call("plain", json!({})))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_of_a_kind_that_is_not_known_loses_nothing_but_itself() {
    let stage = odd().await;
    let message = stage.call("hologram", json!({})).await;
    assert_eq!(
        finished(&message),
        "before\n[a block of the type `hologram`, 29 bytes, which cannot be read]\nafter"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_goes_on_without_its_answer_has_not_finished_the_call() {
    let stage = odd().await;
    let message = stage.call("asks", json!({})).await;
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert_eq!(partial.text, "was told cancel");
}
