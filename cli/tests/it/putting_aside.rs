//! Runs that wait for people are put aside by their server, and go on when somebody has decided.

use serde_json::{Value, json};

use crate::program::{Ended, end, irq};
use crate::serving::Installation;

const ANSWER: &str = r#"{"selectedChoices":["left"]}"#;

/// What a command does beside the server's store.
fn beside(installation: &Installation, arguments: &[&str]) -> Ended {
    end(irq().args(arguments).env("IRQ_STORE", installation.store())).exits_with(0)
}

fn review(installation: &Installation, question: &str) {
    let answer = ["--decision", "respond", "--payload", ANSWER];
    beside(installation, &[&["review", question], &answer[..]].concat());
}

/// Pauses a run that was put aside. Returns the pause.
fn pause(installation: &Installation, run: &str) -> String {
    let paused = beside(installation, &["interrupt", run, "--json"]);
    let pause: Value = serde_json::from_str(&paused.output).unwrap();
    assert_eq!(pause["state"], "awaiting_review", "{pause:#}");
    pause["id"].as_str().unwrap().to_owned()
}

async fn state(installation: &Installation, run: &str) -> String {
    let store = crate::serving::open(&installation.store()).await;
    let row = store.run(run.parse().unwrap()).await.unwrap().unwrap();
    row.state.to_string()
}

/// Waits until nobody executes the run any more, while its question waits.
async fn is_put_aside(installation: &Installation, run: &str) {
    let path = installation.store();
    let store = crate::serving::open(&path).await;
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let row = store.run(run.parse().unwrap()).await.unwrap().unwrap();
        if row.lease.is_none() && row.state.to_string() == "waiting" {
            return;
        }
        assert!(std::time::Instant::now() < end, "{row:#?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_run_that_waits_is_put_aside_and_goes_on_when_it_is_answered_over_the_network() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--put-aside-after", "1s"]);
    let run = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    is_put_aside(&installation, &run).await;
    assert!(installation.decide(&question).await.unwrap().is_success());
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn a_plan_that_waits_stays_aside_until_somebody_answers() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--put-aside-after", "1s"]);
    let question = json!({"agent": "EXECUTOR", "turn": 2, "interrupt": {
        "type": "HUMAN_REVIEW", "reason": "which oven?", "choices": [], "confirmationItems": [],
        "contextForDecision": "there are two"}});
    let script = json!({"version": 1, "steps": [question]});
    let order = json!({"goal": "Describe the bakery",
        "options": {"script": script, "workflow": "plan-execute"}});
    let start = async || {
        let started = installation.post("/v1/runs", &order).send().await.unwrap();
        let started: Value = started.json().await.unwrap();
        let run = started["run_id"].as_str().unwrap().to_owned();
        is_put_aside(&installation, &run).await;
        run
    };
    let run = start().await;
    let store = crate::serving::open(&installation.store()).await;
    let epoch = async || {
        let row = store.run(run.parse().unwrap()).await.unwrap();
        row.unwrap().epoch
    };
    let aside = epoch().await;
    // By the time that another one is put aside, it would have been taken up and put aside again.
    start().await;
    assert_eq!(epoch().await, aside, "nobody has taken it up");
    server.kill();
}

/// The program as a client of the server, with a reviewer's token.
fn as_reviewer(installation: &Installation, arguments: &[&str]) -> Ended {
    let made = end(irq()
        .args(["token", "create", "--name", "rita", "--role", "reviewer"])
        .env("IRQ_STORE", installation.store()))
    .exits_with(0);
    let token = installation.folder.path().join("rita");
    std::fs::write(&token, made.output).unwrap();
    let server = installation.address("");
    end(irq()
        .args(arguments)
        .args(["--server", &server, "--token-file"])
        .arg(token)
        .env_remove("IRQ_STORE"))
}

#[tokio::test]
async fn whoever_decides_through_the_server_is_told_that_it_goes_on_there() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--put-aside-after", "1s"]);
    let run = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    is_put_aside(&installation, &run).await;
    let decide = [
        "review",
        &question,
        "--decision",
        "respond",
        "--payload",
        ANSWER,
    ];
    let decided = as_reviewer(&installation, &decide).exits_with(0);
    // It may be on its way already by then.
    assert!(!decided.output.contains("irq resume"), "{decided:#?}");
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn it_goes_on_when_another_process_has_decided_in_the_store() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--put-aside-after", "1s"]);
    let run = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    is_put_aside(&installation, &run).await;
    review(&installation, &question);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn a_later_server_leaves_it_aside_until_it_is_answered() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--put-aside-after", "1s"]);
    let run = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    is_put_aside(&installation, &run).await;
    server.kill();
    let server = installation.serve_with(&["--put-aside-after", "1s"]);
    let path = format!("/v1/runs/{run}");
    let before: Value = installation.json(&path).await;
    assert_eq!(before["status"], "waiting", "{before:#}");
    is_put_aside(&installation, &run).await;
    review(&installation, &question);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn a_stop_of_a_run_that_was_put_aside_takes_hold() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--put-aside-after", "1s"]);
    let run = installation.start_asking().await;
    installation.questions(1).await;
    is_put_aside(&installation, &run).await;
    let stop = [
        "interrupt",
        &run,
        "--type",
        "STOP",
        "--reason",
        "enough",
        "--yes",
    ];
    beside(&installation, &stop);
    assert_eq!(installation.ends(&run).await, "cancelled");
    server.kill();
}

#[tokio::test]
async fn a_run_whose_pause_was_withdrawn_beside_its_server_goes_on_there_when_it_is_answered() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--put-aside-after", "1s"]);
    let run = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    is_put_aside(&installation, &run).await;
    let pause = pause(&installation, &run);
    assert_eq!(state(&installation, &run).await, "paused");
    beside(&installation, &["withdraw", &pause]);
    assert_eq!(state(&installation, &run).await, "waiting");
    review(&installation, &question);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn a_run_whose_pause_was_withdrawn_goes_on_with_a_later_server_when_it_is_answered() {
    // Withdrawn before the first server ends, or while there is none.
    for is_served in [true, false] {
        let installation = Installation::new();
        let server = installation.serve_with(&["--put-aside-after", "1s"]);
        let run = installation.start_asking().await;
        let question = installation.questions(1).await.remove(0);
        is_put_aside(&installation, &run).await;
        let pause = pause(&installation, &run);
        let withdraw = || beside(&installation, &["withdraw", &pause]);
        if is_served {
            withdraw();
            server.kill();
        } else {
            server.kill();
            withdraw();
        }
        let server = installation.serve_with(&["--put-aside-after", "1s"]);
        let path = format!("/v1/runs/{run}");
        let before: Value = installation.json(&path).await;
        assert_eq!(before["status"], "waiting", "{before:#}");
        review(&installation, &question);
        assert_eq!(installation.ends(&run).await, "completed");
        server.kill();
    }
}

/// A run that is paused from outside, asks nothing, and is executed by nobody; with its pause.
async fn paused(installation: &Installation) -> (String, String) {
    let order = json!({"goal": "Describe the bakery"});
    let started = installation.post("/v1/runs", &order).send().await.unwrap();
    let started: Value = started.json().await.unwrap();
    let run = started["run_id"].as_str().unwrap().to_owned();
    let wait = ["interrupt", &run, "--json", "--wait=awaiting_review"];
    let paused = beside(installation, &wait);
    let pause: Value = serde_json::from_str(&paused.output).unwrap();
    let path = format!("/v1/runs/{run}");
    installation
        .until(&path, |run| {
            (run["status"] == "paused" && run["executing"] == false).then_some(())
        })
        .await;
    (run, pause["id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_paused_run_goes_on_there_once_its_pause_has_ended_beside_its_server() {
    let decided = ["--decision", "respond", "--message", "Mind the oven"];
    for ends in [&["withdraw"][..], &["review"]] {
        let installation = Installation::new();
        let server = installation.serve_with(&["--pace", "600"]);
        let (run, pause) = paused(&installation).await;
        let is_review = ends == ["review"];
        let more = if is_review { &decided[..] } else { &[] };
        beside(&installation, &[ends, &[&pause], more].concat());
        assert_eq!(installation.ends(&run).await, "completed");
        server.kill();
    }
}

#[tokio::test]
async fn a_paused_run_whose_pause_is_withdrawn_while_another_process_has_it_goes_on_once_it_is_let_go()
 {
    for is_released in [true, false] {
        let installation = Installation::new();
        let server = installation.serve_with(&["--pace", "600"]);
        let (held, pause) = paused(&installation).await;
        let (later, later_pause) = paused(&installation).await;
        let store = crate::serving::open(&installation.store()).await;
        // A process that lives, as far as anybody can say, lets something of it take hold.
        let lease = if is_released { 600 } else { 10 };
        let owner = crate::seed::delivery("somebody", lease);
        let owned = store.own_run(held.parse().unwrap(), owner).await.unwrap();
        beside(&installation, &["withdraw", &pause]);
        // The server hears of the one after the other.
        beside(&installation, &["withdraw", &later_pause]);
        assert_eq!(installation.ends(&later).await, "completed");
        if is_released {
            assert_eq!(state(&installation, &held).await, "paused");
            store.release_run(owned.id, owned.epoch).await.unwrap();
        }
        assert_eq!(installation.ends(&held).await, "completed");
        server.kill();
    }
}

#[tokio::test]
async fn a_paused_run_whose_pause_ended_while_there_was_no_server_goes_on_with_the_next() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--pace", "60"]);
    let (run, pause) = paused(&installation).await;
    server.kill();
    beside(&installation, &["withdraw", &pause]);
    assert_eq!(state(&installation, &run).await, "paused");
    let server = installation.serve();
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}
