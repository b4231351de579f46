//! What the policy of a server does without anybody: pauses that end by themselves, hooks around stops.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::program::interrupt;
use crate::server::nobody;
use crate::serving::Installation;

/// Of runs that wait, nothing stays in memory.
const PUT_ASIDE: [&str; 2] = ["--put-aside-after", "100ms"];
/// A step of this pace lasts for as long as a test does.
const SLOW: [&str; 2] = ["--pace", "1"];

fn policy(installation: &Installation, text: &str) -> String {
    let path = installation.folder.path().join("policy.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

async fn start(installation: &Installation, options: Value) -> String {
    let order = json!({"goal": "Describe the bakery", "options": options});
    let started = installation.post("/v1/runs", &order).send().await.unwrap();
    assert_eq!(started.status(), StatusCode::CREATED);
    let run: Value = started.json().await.unwrap();
    run["run_id"].as_str().unwrap().to_owned()
}

/// A run whose orchestrator pauses at its first turn.
async fn start_pausing(installation: &Installation) -> String {
    let script = json!({"version": 1, "steps": [interrupt("PAUSE")]});
    start(installation, json!({"script": script})).await
}

/// The interrupts of a run, once there are so many and the last of them waits for a person.
async fn pauses(installation: &Installation, run: &str, count: usize) -> Vec<Value> {
    let path = format!("/v1/interrupts?run_id={run}");
    installation
        .until(&path, |page| {
            let found = page["interrupts"].as_array().unwrap();
            let waits = found.iter().any(|it| it["state"] == "awaiting_review");
            (found.len() >= count && waits).then(|| found.clone())
        })
        .await
}

/// Waits until a run works.
async fn begun(installation: &Installation, run: &str) {
    installation
        .until(&format!("/v1/agents?run_id={run}"), |page| {
            let agents = page["agents"].as_array().unwrap();
            agents
                .iter()
                .any(|agent| agent["status"] == "running")
                .then_some(())
        })
        .await;
}

async fn status(installation: &Installation, run: &str) -> Value {
    installation.json(&format!("/v1/runs/{run}")).await["status"].clone()
}

/// What a program has written, once it has.
fn written(path: &Path) -> Value {
    let begun = Instant::now();
    loop {
        let text = std::fs::read(path).unwrap_or_default();
        if let Ok(value) = serde_json::from_slice(&text) {
            return value;
        }
        let path = path.display();
        assert!(begun.elapsed() < Duration::from_secs(60), "{path}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A hook that keeps what it is told.
fn keeps(path: &Path) -> String {
    // The file is there whole or not at all.
    let path = path.display();
    let command = format!("cat > {path}.part && mv {path}.part {path}");
    Value::from(vec!["sh", "-c", &command]).to_string()
}

#[tokio::test]
async fn a_pause_that_the_policy_ends_lets_the_run_of_a_server_go_on_by_itself() {
    let installation = Installation::new();
    let text = "[[rule]]\ntype = \"PAUSE\"\nsource = \"programmatic\"\nresume = \"1s\"\nresume_input = \"go on\"\n";
    let policy = policy(&installation, text);
    let server = installation.serve_with(&[&PUT_ASIDE[..], &["--policy", &policy]].concat());
    let run = start_pausing(&installation).await;
    assert_eq!(installation.ends(&run).await, "completed");
    let path = format!("/v1/interrupts?run_id={run}");
    let pause = &installation.json(&path).await["interrupts"][0];
    assert_eq!(pause["decision"]["by"], "a policy", "{pause:#}");
    assert_eq!(pause["decision"]["payload"]["input"], "go on", "{pause:#}");
    server.kill();
}

#[tokio::test]
async fn a_pause_that_an_earlier_server_left_is_ended_by_the_next_one() {
    let installation = Installation::new();
    let server = installation.serve_with(&PUT_ASIDE);
    let run = start_pausing(&installation).await;
    pauses(&installation, &run, 1).await;
    installation
        .until(&format!("/v1/runs/{run}"), |run| {
            (run["executing"] == false).then_some(())
        })
        .await;
    server.kill();
    let policy = policy(
        &installation,
        "[[rule]]\ntype = \"PAUSE\"\nresume = \"1s\"\n",
    );
    let server = installation.serve_with(&["--policy", &policy]);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn what_a_person_stops_before_the_policy_ends_a_pause_goes_on_where_a_person_says_so() {
    for kind in ["BRANCH", "PAUSE"] {
        let installation = Installation::new();
        let text = "[[rule]]\ntype = \"PAUSE\"\nsource = \"programmatic\"\nresume = \"3s\"\n";
        let policy = policy(&installation, text);
        let server = installation.serve_with(&[&PUT_ASIDE[..], &["--policy", &policy]].concat());
        let run = start_pausing(&installation).await;
        let asked = pauses(&installation, &run, 1).await.remove(0);
        let path = format!("/v1/runs/{run}");
        installation
            .until(&path, |run| (run["executing"] == false).then_some(()))
            .await;
        let stop = json!({"type": kind, "mode": "immediate", "scope": "run", "reason": "mine"});
        let stops = format!("/v1/agents/{run}/interrupts");
        let stop = installation.post(&stops, &stop).send().await.unwrap();
        assert_eq!(stop.status(), StatusCode::ACCEPTED);
        installation
            .until(&path, |run| {
                (run["status"] == "paused" && run["executing"] == false).then_some(())
            })
            .await;
        // The policy ends the pause of one that begins now.
        let later = start_pausing(&installation).await;
        assert_eq!(installation.ends(&later).await, "completed");
        assert_eq!(status(&installation, &run).await, "paused", "{kind}");
        let asked = format!("/v1/interrupts/{}", asked["id"].as_str().unwrap());
        let asked = installation.json(&asked).await;
        assert_eq!(asked["state"], "awaiting_review", "{kind}: {asked:#}");
        server.kill();
    }
}

#[tokio::test]
async fn a_pause_of_the_system_is_tried_again_until_the_server_is_stopped() {
    let installation = Installation::new();
    let text = "[[rule]]\ntype = \"PAUSE\"\nsource = \"system\"\nresume = \"1s\"\n";
    let policy = policy(&installation, text);
    let url = format!("http://{}/v1", nobody());
    let arguments = [
        "--model",
        "openai:m",
        "--base-url",
        &url,
        "--policy",
        &policy,
    ];
    let server = installation.serve_with(&arguments);
    let run = start(&installation, json!({})).await;
    let tried = pauses(&installation, &run, 2).await;
    assert!(
        tried.iter().all(|pause| pause["source"] == "system"),
        "{tried:#?}"
    );
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
}

#[tokio::test]
async fn a_limit_that_was_reached_is_waited_for_by_no_server() {
    let installation = Installation::new();
    let policy = policy(
        &installation,
        "[[rule]]\ntype = \"PAUSE\"\nresume = \"1s\"\n",
    );
    let server = installation.serve_with(&[&PUT_ASIDE[..], &["--policy", &policy]].concat());
    let limited = start(&installation, json!({"max_steps": 2})).await;
    pauses(&installation, &limited, 1).await;
    let left = start_pausing(&installation).await;
    // One that came later has gone on by itself, so the first would have.
    assert_eq!(installation.ends(&left).await, "completed");
    assert_eq!(status(&installation, &limited).await, "paused");
    server.kill();
}

#[tokio::test]
async fn hooks_are_started_about_stops_of_the_runs_of_a_server_and_not_about_its_own_end() {
    let installation = Installation::new();
    let file = |name: &str| -> PathBuf { installation.folder.path().join(name) };
    let (before, after) = (file("before.json"), file("after.json"));
    let text = format!(
        "[hooks]\nbefore_stop = {}\nafter_stop = {}\n",
        keeps(&before),
        keeps(&after)
    );
    let policy = policy(&installation, &text);
    let server = installation.serve_with(&[&SLOW[..], &["--policy", &policy]].concat());
    let stopped = start(&installation, json!({})).await;
    begun(&installation, &stopped).await;
    let stop = json!({"type": "PAUSE", "mode": "immediate", "scope": "run", "reason": "enough"});
    let path = format!("/v1/agents/{stopped}%2Forchestrator/interrupts");
    let asked = installation.post(&path, &stop).send().await.unwrap();
    assert_eq!(asked.status(), StatusCode::ACCEPTED);
    let told = written(&before);
    assert_eq!(told["reason"], "enough", "{told:#}");
    assert_eq!(told["run_id"], stopped, "{told:#}");
    let told = written(&after);
    assert_eq!(told["run_id"], stopped, "{told:#}");
    assert_eq!(told["state"], "awaiting_review", "{told:#}");

    std::fs::remove_file(&before).unwrap();
    std::fs::remove_file(&after).unwrap();
    let working = start(&installation, json!({})).await;
    begun(&installation, &working).await;
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
    // It is no stop: the next server goes on. What had begun by then was waited for.
    assert!(!before.exists() && !after.exists());
}

#[tokio::test]
async fn a_hook_that_hangs_holds_up_neither_a_server_nor_its_end() {
    let installation = Installation::new();
    let hangs = "[default]\nhandler_limit = \"1s\"\n[hooks]\nbefore_stop = [\"sleep\", \"600\"]\n";
    let policy = policy(&installation, hangs);
    let server = installation.serve_with(&[&SLOW[..], &["--policy", &policy]].concat());
    let run = start(&installation, json!({})).await;
    begun(&installation, &run).await;
    let stop = json!({"type": "PAUSE", "mode": "immediate", "scope": "run", "reason": "enough"});
    let path = format!("/v1/agents/{run}%2Forchestrator/interrupts");
    let asked = installation.post(&path, &stop).send().await.unwrap();
    assert_eq!(asked.status(), StatusCode::ACCEPTED);
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
    let words = "the hook before_stop failed: it took longer than 1s and was killed";
    assert!(told.contains(words), "{told}");
}
