//! Replies that cannot be read, and lists that do not end, over each way to a server.

use std::time::{Duration, Instant};

use serde_json::json;

use super::stage::{Setting, Stage, finished, serve, source};

/// The replies, a line each. `$ID` is the id of the request.
const REPLIES: &str = include_str!("../../mcp/replies-that-cannot-be-read.jsonl");

/// How long a call may take that has such a reply: far less than its limit.
const AT_ONCE: Duration = Duration::from_secs(5);

const WAYS: [&str; 3] = ["stdio", "http", "sse"];

async fn stage(way: &str, endless: &'static str) -> (Stage, Option<super::stage::Elsewhere>) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let source = source("unreadable.py");
    let limits = "limits = { list = \"5s\", cancel = \"1s\" }";
    let (table, elsewhere) = if way == "stdio" {
        let env = format!("{{ LOG = {}, ENDLESS = {} }}", json!(log), json!(endless));
        let table = format!(
            "command = \"python3\"\nargs = [{}, \"stdio\"]\nenv = {env}",
            json!(source)
        );
        (table, None)
    } else {
        let command = ["python3".to_owned(), source, way.to_owned()];
        let (port, elsewhere) = serve(&command, &log, &[("ENDLESS", endless)]);
        (
            format!("url = \"http://127.0.0.1:{port}/mcp\""),
            Some(elsewhere),
        )
    };
    let table = format!("{table}\n{limits}");
    (
        Stage::of(&table, &Setting::default(), folder).await,
        elsewhere,
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_cannot_be_read_ends_its_call_at_once_with_an_unknown_outcome() {
    for way in WAYS {
        let (stage, _elsewhere) = stage(way, "").await;
        for reply in REPLIES.lines() {
            let begun = Instant::now();
            let message = stage.call("reply", json!({ "text": reply })).await;
            assert!(begun.elapsed() < AT_ONCE, "{way}, {reply}: {message:?}");
            assert_eq!(message.end.word(), "unknown", "{way}, {reply}: {message:?}");
            let text = message.text();
            assert!(text.contains("cannot be read"), "{way}, {reply}: {text}");
            for said in [message.text(), tools::wording::line(&message)] {
                assert!(
                    said.contains("it may have been done"),
                    "{way}, {reply}: {said}"
                );
            }
            assert_eq!(
                finished(&stage.call("plain", json!({})).await),
                "plain",
                "{way}"
            );
        }
        assert_eq!(
            stage.count("called"),
            REPLIES.lines().count(),
            "{way}: each once"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_whose_cursor_does_not_advance_ends() {
    for (endless, pages) in [("same", &["two", "three"][..]), ("circle", &["a", "b"])] {
        for way in WAYS {
            let (stage, _elsewhere) = stage(way, endless).await;
            let specs = stage.executor.config().registry.specs();
            let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
            let mut expected: Vec<String> =
                ["plain", "reply"].map(|it| format!("s__{it}")).to_vec();
            expected.extend(pages.iter().map(|page| format!("s__page_{page}")));
            expected.sort();
            assert_eq!(names, expected, "{way}, {endless}");
            let notes = stage.servers.notes();
            assert!(notes[0].contains("cursor"), "{notes:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_in_place_of_a_reply_says_whether_the_call_may_have_been_done() {
    let (stage, _elsewhere) = stage("http", "").await;
    for (status, end) in [
        (502, "unknown"),
        (504, "unknown"),
        (500, "unknown"),
        (503, "failed"),
        (429, "failed"),
        (400, "failed"),
    ] {
        let text = format!("HTTP {status}");
        let message = stage.call("reply", json!({ "text": text })).await;
        assert_eq!(message.end.word(), end, "{status}: {message:?}");
        assert!(message.text().contains(&status.to_string()), "{message:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_of_an_older_draft_is_checked_as_it_is_meant() {
    let (stage, _elsewhere) = stage("stdio", "").await;
    let message = stage.call("plain", json!({"n": 1})).await;
    assert_eq!(finished(&message), "plain");
    let message = stage.call("plain", json!({"n": 0})).await;
    assert!(message.text().contains("do not fit at $.n"), "{message:?}");
}
