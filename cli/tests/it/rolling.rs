//! Servers that take turns over one store, as an operator restarts them: one begins before the other has ended, and every
//! run goes on.

use std::time::{Duration, Instant};

use interrupt_router::RunId;
use interrupts::store::NewRun;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{end, irq, lines};
use crate::serving::{Installation, Server, open};

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

async fn start(installation: &Installation) -> String {
    start_of(installation, "agents").await
}

async fn start_of(installation: &Installation, workflow: &str) -> String {
    let body = json!({"goal": "Describe the bakery", "options": {"workflow": workflow}});
    let started = installation.post("/v1/runs", &body).send().await.unwrap();
    assert!(started.status().is_success(), "{started:?}");
    let started: Value = started.json().await.unwrap();
    started["run_id"].as_str().unwrap().to_owned()
}

async fn keeps_some_going(installation: &Installation) {
    let under_way = runs(installation)
        .iter()
        .filter(|run| run["state"] != "completed")
        .count();
    for run in under_way..RUNS {
        let workflow = ["agents", "plan-execute"][run % 2];
        start_of(installation, workflow).await;
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

/// No end of a server is an interrupt: nobody is asked anything, and no run is paused.
fn nothing_was_raised(installation: &Installation) {
    let mut review = irq();
    review.args(["review", "--json"]);
    review.env("IRQ_STORE", installation.store());
    let open = lines(&end(&mut review).exits_with(0).output);
    assert!(open.is_empty(), "{open:#?}");
    for run in runs(installation) {
        let state = run["state"].as_str().unwrap();
        assert!(
            ["created", "running", "completed"].contains(&state),
            "{run:#}"
        );
    }
}

/// How a server is told to end, each in its turn.
const ENDS: [&[Signal]; 4] = [
    &[Signal::TERM],
    &[Signal::HUP, Signal::HUP],
    &[Signal::TERM, Signal::TERM],
    &[Signal::QUIT],
];

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
        let (code, told) = server.ends_after(ENDS[round as usize % ENDS.len()]);
        assert_eq!(code, Some(0), "{told}");
        nothing_was_raised(&installation);
        all_go_on(&installation, round);
        next.kill();
        server = installation.serve_with(&slow);
        all_go_on(&installation, round);
    }
    for run in runs(&installation) {
        let id = run["id"].as_str().unwrap();
        assert_eq!(installation.ends(id).await, "completed");
    }
    let raised = installation.json("/v1/interrupts").await;
    assert_eq!(raised["interrupts"], json!([]), "{raised:#}");
}

#[tokio::test]
async fn what_a_stopped_server_leaves_waits_for_the_next_one_and_every_surface_says_so() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--pace", "30"]);
    let run = start(&installation).await;
    let idle = installation.serve_beside_with(&["--no-resume"]);
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
    nothing_was_raised(&installation);
    let told = installation
        .json_beside(&idle, &format!("/v1/runs/{run}"))
        .await;
    assert_eq!(told["status"], "running", "{told:#}");
    assert_eq!(told["executing"], false, "{told:#}");
    assert_eq!(told["waits_for_server"], true, "{told:#}");
    let mut ps = irq();
    ps.arg("ps").env("IRQ_STORE", installation.store());
    let shown = end(&mut ps).exits_with(0).output;
    assert!(shown.contains("waiting for a server"), "{shown}");
    let row = &runs(&installation)[0];
    assert_eq!(row["waits_for_server"], true, "{row:#}");
    let saved = row["checkpoint"].as_u64();
    assert!(saved.is_some_and(|number| number > 0), "{row:#}");
    let page = installation
        .page_beside(&idle, &format!("/runs/{run}"))
        .await;
    assert!(page.contains("it waits for a server"), "{page}");
    idle.kill();
    let server = installation.serve();
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn a_server_that_shall_not_resume_leaves_runs_to_others() {
    let (left, taken) = (Installation::new(), Installation::new());
    let mut followers = Vec::new();
    for (installation, options) in [(&left, &["--no-resume"][..]), (&taken, &[])] {
        let server = installation.serve_with(&["--pace", "30"]);
        keeps_some_going(installation).await;
        followers.push(installation.serve_beside_with(options));
        let (code, told) = server.terminate();
        assert_eq!(code, Some(0), "{told}");
    }
    // The one that may has looked for what was left after the other one would have.
    all_go_on(&taken, 0);
    for run in runs(&left) {
        assert_eq!(run["state"], "running", "{run:#}");
        assert_eq!(run["is_owned"], false, "{run:#}");
    }
    for follower in followers {
        follower.kill();
    }
}

#[tokio::test]
async fn a_run_whose_server_died_before_it_began_is_begun_by_another() {
    let installation = Installation::new();
    let server = installation.serve();
    let begun = start(&installation).await;
    assert_eq!(installation.ends(&begun).await, "completed");
    let created = {
        let store = open(&installation.store()).await;
        let row = store.run(begun.parse().unwrap()).await.unwrap().unwrap();
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: row.content,
        };
        store.create_run(new).await.unwrap().id.to_string()
    };
    assert_eq!(installation.ends(&created).await, "completed");
    server.kill();
}

#[tokio::test]
async fn a_run_can_be_stopped_as_soon_as_it_is_there() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--pace", "30"]);
    for _run in 0..20 {
        let run = start(&installation).await;
        let path = format!("/v1/agents/{run}/interrupts");
        let stop =
            json!({"type": "STOP", "scope": "run", "mode": "immediate", "reason": "not that"});
        let stopped = installation.post(&path, &stop).send().await.unwrap();
        assert_eq!(stopped.status().as_u16(), 202, "{stopped:?}");
        assert_eq!(installation.ends(&run).await, "cancelled");
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
