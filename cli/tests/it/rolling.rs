//! Servers that take turns over one store, as an operator restarts them: one begins before the other has ended, and every
//! run goes on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{end, irq, lines};
use crate::serving::{Installation, Server};

/// How long a run may be executed by nobody after its server was stopped.
const TAKEN_UP_WITHIN: Duration = Duration::from_secs(10);

/// How many runs are under way meanwhile.
const RUNS: usize = 3;

fn restarts() -> u32 {
    std::env::var("ROLLING_RESTARTS").map_or(3, |times| times.parse().unwrap())
}

fn runs(installation: &Installation) -> Vec<Value> {
    let mut ps = irq();
    ps.args(["ps", "--all", "--json"])
        .env("IRQ_STORE", installation.store());
    lines(&end(&mut ps).exits_with(0).output)
}

/// Whether it is executed, or needs nobody to.
fn is_at_work(run: &Value) -> bool {
    match run["state"].as_str().unwrap() {
        "completed" => true,
        "running" => run["is_owned"] == true,
        _ => false,
    }
}

async fn keeps_some_going(installation: &Installation) {
    let under_way = runs(installation)
        .iter()
        .filter(|run| run["state"] != "completed")
        .count();
    for _run in under_way..RUNS {
        let body = json!({"goal": "Describe the bakery"});
        let started = installation.post("/v1/runs", &body).send().await.unwrap();
        assert!(started.status().is_success(), "{started:?}");
    }
}

fn all_go_on(installation: &Installation, round: u32) {
    let begun = Instant::now();
    loop {
        let runs = runs(installation);
        if runs.iter().all(is_at_work) {
            return;
        }
        assert!(
            begun.elapsed() < TAKEN_UP_WITHIN,
            "round {round}: {runs:#?}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_run_is_executed_again_whenever_one_server_follows_another() {
    let installation = Installation::new();
    let slow = ["--pace", "300"];
    let mut server: Server = installation.serve_with(&slow);
    for round in 0..restarts() {
        keeps_some_going(&installation).await;
        tokio::time::sleep(Duration::from_millis(u64::from(round) * 137 % 900)).await;
        // The next one is there before this one has let go of its runs.
        let next = installation.serve_beside_with(&slow);
        let (code, told) = server.terminate();
        assert_eq!(code, Some(0), "{told}");
        all_go_on(&installation, round);
        next.kill();
        server = installation.serve_with(&slow);
        all_go_on(&installation, round);
    }
    for run in runs(&installation) {
        let id = run["id"].as_str().unwrap();
        assert_eq!(installation.ends(id).await, "completed");
    }
}

#[tokio::test]
async fn a_server_that_shall_not_resume_leaves_runs_to_others() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--pace", "30"]);
    keeps_some_going(&installation).await;
    let idle = installation.serve_beside_with(&["--no-resume"]);
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
    std::thread::sleep(Duration::from_secs(5));
    for run in runs(&installation) {
        assert_eq!(run["state"], "paused", "{run:#}");
    }
    idle.kill();
}

#[tokio::test]
async fn a_run_can_be_stopped_as_soon_as_it_is_there() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--pace", "30"]);
    for _run in 0..20 {
        let body = json!({"goal": "Describe the bakery"});
        let started = installation.post("/v1/runs", &body).send().await.unwrap();
        let started: Value = started.json().await.unwrap();
        let run = started["run_id"].as_str().unwrap();
        let path = format!("/v1/agents/{run}/interrupts");
        let stop =
            json!({"type": "STOP", "scope": "run", "mode": "immediate", "reason": "not that"});
        let stopped = installation.post(&path, &stop).send().await.unwrap();
        assert_eq!(stopped.status().as_u16(), 202, "{stopped:?}");
        assert_eq!(installation.ends(run).await, "cancelled");
    }
    server.kill();
}

#[tokio::test]
async fn a_run_that_is_in_the_list_can_be_stopped_before_its_start_is_answered() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--pace", "30"]);
    for round in 0..20 {
        let name = format!("ticket-{round}");
        let body = json!({"goal": "Describe the bakery", "thread_id": name});
        let start = tokio::spawn(installation.post("/v1/runs", &body).send());
        let run = loop {
            let list = installation.get("/v1/runs?limit=500").send();
            let list: Value = list.await.unwrap().json().await.unwrap();
            let runs = list["runs"].as_array().unwrap();
            if let Some(run) = runs.iter().find(|run| run["thread_id"] == name) {
                break run["run_id"].as_str().unwrap().to_owned();
            }
        };
        let stop =
            json!({"type": "STOP", "scope": "run", "mode": "immediate", "reason": "not that"});
        let path = format!("/v1/agents/{run}/interrupts");
        let stopped = installation.post(&path, &stop).send().await.unwrap();
        assert_eq!(stopped.status().as_u16(), 202, "{stopped:?}");
        assert_eq!(installation.ends(&run).await, "cancelled");
        assert!(start.await.unwrap().is_ok());
    }
    server.kill();
}
