//! Workers that share runs: by what each has, by their slots, and anew when one comes.

use std::time::{Duration, Instant};

use interrupts::store::{NodeActivity, Page, Store};
use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::many_machines::verified;
use crate::program::{end, irq};
use crate::serving::{Installation, Server, open};

/// How long runs may take to be shared anew: several beats of workers, each of 5 s.
const SHARED_WITHIN: Duration = Duration::from_secs(60);

async fn start(installation: &Installation, needs: &[&str]) -> String {
    let body = json!({"goal": "Describe the bakery", "options": {"needs": needs}});
    let started = installation.post("/v1/runs", &body).send().await.unwrap();
    assert_eq!(started.status(), StatusCode::CREATED, "{started:?}");
    let started: Value = started.json().await.unwrap();
    started["run_id"].as_str().unwrap().to_owned()
}

/// How many of these runs a worker has.
async fn has(store: &dyn Store, worker: &Server, runs: &[String]) -> usize {
    let part = format!("-{}-", worker.pid());
    let mut count = 0;
    for run in runs {
        let row = store.run(run.parse().unwrap()).await.unwrap().unwrap();
        let owner = row.lease.map(|lease| lease.owner.to_string());
        count += usize::from(owner.is_some_and(|owner| owner.contains(&part)));
    }
    count
}

/// Waits until a worker has so many of these runs.
async fn comes_to_have(store: &dyn Store, worker: &Server, runs: &[String], wanted: usize) {
    let begun = Instant::now();
    loop {
        let found = has(store, worker, runs).await;
        if found == wanted {
            return;
        }
        assert!(begun.elapsed() < SHARED_WITHIN, "it has {found}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until an agent of a run is in a call.
async fn asks_its_model(store: &dyn Store, run: &str) {
    let begun = Instant::now();
    let all = Page {
        after: 0,
        limit: 100,
    };
    loop {
        let nodes = store.nodes(Some(run.parse().unwrap()), all).await.unwrap();
        let mut nodes = nodes.iter();
        if nodes.any(|(_position, node)| node.activity == NodeActivity::Running) {
            return;
        }
        assert!(begun.elapsed() < SHARED_WITHIN, "no agent runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn listed(installation: &Installation) -> String {
    let mut ps = irq();
    ps.arg("ps").env("IRQ_STORE", installation.store());
    end(&mut ps).exits_with(0).output
}

#[tokio::test]
async fn a_run_waits_for_a_worker_that_has_what_it_needs() {
    let installation = Installation::new();
    let _server = installation.serve_with(&["--runs-by-workers"]);
    let _plain = installation.work(&["--label", "region=eu"]);
    let needy = start(&installation, &["gpu", "region=eu"]).await;
    // The worker has looked at both by the time when it has ended one.
    let any = start(&installation, &["region=eu"]).await;
    assert_eq!(installation.ends(&any).await, "completed");
    let path = format!("/v1/runs/{needy}");
    assert_eq!(installation.json(&path).await["status"], "created");
    let listed = listed(&installation);
    assert!(
        listed.contains("waiting for a worker with gpu, region=eu"),
        "{listed}"
    );
    let able = installation.work(&["--label", "gpu", "--label", "region=eu", "--pace", "2000"]);
    let store = open(&installation.store()).await;
    comes_to_have(&*store, &able, std::slice::from_ref(&needy), 1).await;
    assert_eq!(installation.ends(&needy).await, "completed");
    verified(&installation);
}

#[tokio::test]
async fn a_stop_takes_hold_of_a_run_that_waits_for_a_worker_with_what_it_needs() {
    let installation = Installation::new();
    let _server = installation.serve_with(&["--runs-by-workers"]);
    let _plain = installation.work(&[]);
    let run = start(&installation, &["gpu"]).await;
    let mut stop = irq();
    stop.args(["interrupt", &run, "--type", "STOP", "--wait", "--yes"]);
    end(stop.env("IRQ_STORE", installation.store())).exits_with(0);
    assert_eq!(installation.ends(&run).await, "cancelled");
    verified(&installation);
}

#[tokio::test]
async fn a_need_that_no_worker_will_be_asked_for_or_that_is_no_label_is_refused() {
    let installation = Installation::new();
    let _server = installation.serve();
    for (needs, says) in [
        (json!(["gpu"]), "--runs-by-workers"),
        (json!(["two words"]), "a label has"),
        (json!("gpu"), "options.needs"),
    ] {
        let body = json!({"goal": "Describe the bakery", "options": {"needs": needs}});
        let refused = installation.post("/v1/runs", &body).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let told = refused.text().await.unwrap();
        assert!(told.contains("options.needs"), "{told}");
        assert!(told.contains(says), "{told}");
    }
    end(irq().args(["worker", "--label", "two words"]))
        .exits_with(2)
        .says("a label has");
    end(irq().args(["run", "Describe the bakery", "--needs", "gpu"]))
        .exits_with(2)
        .says("--server");
}

#[tokio::test]
async fn a_worker_says_that_it_is_ready_and_what_it_has_to_whoever_asks() {
    let installation = Installation::new();
    let worker = installation.work(&["--slots", "3", "--probes", "127.0.0.1:0"]);
    let (_before, at) = worker.page.split_once("Probes at ").unwrap();
    let ready = at.trim_end_matches('.');
    let text = async |at: &str| tls::get(at).await.unwrap().text().await.unwrap();
    assert_eq!(text(ready).await, "ready\n");
    let metrics = text(&ready.replace("readyz", "metrics")).await;
    for line in [
        "irq_slots 3",
        "irq_slots_taken 0",
        "irq_handovers_total 0",
        "irq_store_write_seconds_count{operation=\"TellWorker\"}",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    end(irq()
        .args(["worker", "--probes", at.split('/').nth(2).unwrap()])
        .env("IRQ_STORE", installation.store()))
    .exits_with(1)
    .says("--probes 127.0.0.1:0");
    let (code, told) = worker.terminate();
    assert_eq!(code, Some(0), "{told}");
}

#[tokio::test]
async fn a_worker_that_stops_says_that_it_is_not_ready() {
    let installation = Installation::new();
    let _server = installation.serve_with(&["--runs-by-workers"]);
    // A step takes longer than half of the time that a stop has.
    let slow = ["--pace", "1", "--drain-timeout", "4s"];
    let worker = installation.work(&[&slow[..], &["--probes", "127.0.0.1:0"]].concat());
    let (_before, at) = worker.page.split_once("Probes at ").unwrap();
    let ready = at.trim_end_matches('.').to_owned();
    let run = start(&installation, &[]).await;
    asks_its_model(&*open(&installation.store()).await, &run).await;
    worker.send(Signal::TERM);
    loop {
        let answer = tls::get(&ready).await.expect("its port is open");
        if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
            break;
        }
    }
    let metrics = tls::get(ready.replace("readyz", "metrics")).await;
    assert!(metrics.unwrap().status().is_success());
    let (code, told) = worker.ended();
    assert_eq!(code, Some(0), "{told}");
}

#[tokio::test]
async fn a_worker_that_comes_takes_its_share_and_one_that_goes_leaves_it() {
    let installation = Installation::new();
    let _server = installation.serve_with(&["--runs-by-workers"]);
    let slow = ["--pace", "40"];
    let first = installation.work(&slow);
    let mut runs = Vec::new();
    for _run in 0..4 {
        runs.push(start(&installation, &[]).await);
    }
    let store = open(&installation.store()).await;
    comes_to_have(&*store, &first, &runs, 4).await;
    let second = installation.work(&slow);
    comes_to_have(&*store, &second, &runs, 2).await;
    comes_to_have(&*store, &first, &runs, 2).await;
    let (code, told) = first.terminate();
    assert_eq!(code, Some(0), "{told}");
    comes_to_have(&*store, &second, &runs, 4).await;
    let fast = installation.work(&[]);
    drop(second);
    for run in &runs {
        assert_eq!(installation.ends(run).await, "completed");
    }
    drop(fast);
    verified(&installation);
}
