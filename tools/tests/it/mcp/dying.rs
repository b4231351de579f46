//! A server that dies, or with which we do.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::stage::{Sdk, Setting, Stage, Way, command, finished, is_alive, modules};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_server_dies_fails_with_its_last_words_and_the_next_starts_it_again() {
    for sdk in [Sdk::Python, Sdk::Node] {
        let stage = Stage::new(sdk, Way::Stdio).await;
        let text = stage.call("die", json!({"word": "boredom"})).await.text();
        for part in [
            "the MCP server `s` ended: it left with code 3",
            "the end of its standard error:\nabout to die of boredom",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let next = stage
            .call("work", json!({"name": "a", "seconds": 0.04}))
            .await;
        assert_eq!(finished(&next), "a has worked");
        assert_eq!(stage.pids().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_keeps_dying_is_left_dead() {
    let setting = Setting {
        more: "limits = { restarts = 2 }".to_owned(),
        ..Setting::default()
    };
    let stage = Stage::with(Sdk::Node, Way::Stdio, setting).await;
    for _life in 0..3 {
        stage.call("die", json!({"word": "boredom"})).await;
    }
    let text = stage.call("die", json!({"word": "boredom"})).await.text();
    for part in [
        "died 3 times within ten minutes",
        "raise `limits.restarts`",
        "about to die",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(stage.pids().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_started_ends_with_it() {
    let stage = Stage::new(Sdk::Python, Way::Stdio).await;
    let message = stage.call("child", json!({"name": "a"})).await;
    let child: i32 = finished(&message).parse().unwrap();
    assert!(is_alive(child));
    let ends = stage.servers.close().await;
    assert!(ends[0].1.verified, "{ends:?}");
    assert!(!is_alive(child));
    let text = stage.call("child", json!({"name": "a"})).await.text();
    assert!(text.contains("the MCP server `s` was closed"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_are_dropped_take_their_processes_with_them() {
    let stage = Stage::new(Sdk::Node, Way::Stdio).await;
    let pid = stage.pids()[0];
    let Stage {
        servers,
        executor,
        folder: _folder,
        ..
    } = stage;
    drop((servers, executor));
    wait_for_death(&[pid]);
}

#[test]
fn a_server_dies_with_us_also_where_we_are_killed() {
    let program = Path::new(env!("CARGO_BIN_EXE_tool-keeper"))
        .parent()
        .unwrap()
        .join("examples/mcp_call");
    for sdk in [Sdk::Python, Sdk::Node] {
        let folder = tempfile::tempdir().unwrap();
        let (log, config) = (folder.path().join("log"), folder.path().join("mcp.toml"));
        let line = command(sdk, Way::Stdio);
        let text = format!(
            "[servers.s]\ncommand = {}\nargs = {}\nenv = {{ LOG = {}, MODULES = {} }}\n",
            json!(line[0]),
            json!(line[1..]),
            json!(log),
            json!(modules())
        );
        std::fs::write(&config, text).unwrap();
        let mut owner = Command::new(&program)
            .arg(&config)
            .args(["s__work", r#"{"name": "a", "seconds": 60}"#])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let read = || std::fs::read_to_string(&log).unwrap_or_default();
        let patience = Instant::now() + Duration::from_secs(20);
        while !read().contains("a step 3") {
            assert!(Instant::now() < patience, "it does not work");
            std::thread::sleep(Duration::from_millis(10));
        }
        let pid: i32 = read().lines().next().unwrap()["started ".len()..]
            .parse()
            .unwrap();
        assert!(is_alive(pid));
        // SIGKILL: it gets no chance to clean up.
        owner.kill().unwrap();
        owner.wait().unwrap();
        wait_for_death(&[pid]);
    }
}

fn wait_for_death(pids: &[i32]) {
    let patience = Instant::now() + Duration::from_secs(20);
    while pids.iter().any(|pid| is_alive(*pid)) {
        assert!(Instant::now() < patience, "still alive: {pids:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
