//! Servers and workers over one store in PostgreSQL, as they run on several machines.

use std::sync::Arc;
use std::time::{Duration, Instant};

use interrupts::store::Store;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tests::postgres::Server as DatabaseServer;

use crate::program::{end, irq};
use crate::serving::{Installation, open};

/// How long a run that was left may be executed by no process where that is known to be gone.
const TAKEN_UP_WITHIN: Duration = Duration::from_secs(10);

async fn start(installation: &Installation) -> String {
    let body = json!({"goal": "Describe the bakery"});
    let started = installation.post("/v1/runs", &body).send().await.unwrap();
    assert_eq!(started.status(), StatusCode::CREATED, "{started:?}");
    let started: Value = started.json().await.unwrap();
    started["run_id"].as_str().unwrap().to_owned()
}

async fn owner(store: &Arc<dyn Store>, run: &str) -> Option<String> {
    let run = store.run(run.parse().unwrap()).await.unwrap().unwrap();
    run.lease.map(|lease| lease.owner.to_string())
}

/// Waits until some process has a run, other than this one.
async fn owned_by_another(store: &Arc<dyn Store>, run: &str, before: Option<&str>) -> String {
    let begun = Instant::now();
    loop {
        if let Some(owner) = owner(store, run).await
            && Some(owner.as_str()) != before
        {
            println!("taken after {} ms", begun.elapsed().as_millis());
            return owner;
        }
        assert!(
            begun.elapsed() < TAKEN_UP_WITHIN,
            "{run} is executed by no process"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) fn verified(installation: &Installation) {
    let mut verify = irq();
    verify
        .args(["history", "--verify"])
        .env("IRQ_STORE", installation.store());
    end(&mut verify).exits_with(0);
}

#[tokio::test]
async fn a_run_of_one_server_is_decided_at_another_and_both_tell_the_same_events() {
    let Some(installation) = Installation::in_postgres() else {
        return;
    };
    let first = installation.serve();
    let ready = installation.get("/readyz").send().await.unwrap();
    let ready = ready.text().await.unwrap();
    assert!(ready.contains("no synchronous standby"), "{ready}");
    let second = installation.serve_beside();
    let run = installation.start_asking_beside(&second).await;
    let questions = installation.questions(1).await;
    assert_eq!(
        installation.decide(&questions[0]).await.unwrap(),
        StatusCode::CREATED
    );
    assert_eq!(installation.ends(&run).await, "completed");
    let path = format!("/v1/history?run_id={run}");
    let told = installation.json(&path).await;
    assert_eq!(told, installation.json_beside(&second, &path).await);
    verified(&installation);
    for server in [first, second] {
        let (code, told) = server.terminate();
        assert_eq!(code, Some(0), "{told}");
    }
}

#[tokio::test]
async fn workers_execute_what_a_server_leaves_to_them_each_as_many_as_it_has_slots() {
    let Some(installation) = Installation::in_postgres() else {
        return;
    };
    let _server = installation.serve_with(&["--runs-by-workers"]);
    let store = open(&installation.store()).await;
    let mut runs = Vec::new();
    for _run in 0..4 {
        runs.push(start(&installation).await);
    }
    assert_eq!(owner(&store, &runs[0]).await, None);
    let _one = installation.work(&["--slots", "1", "--pace", "2000"]);
    let _two = installation.work(&["--slots", "1", "--pace", "2000"]);
    let (mut owners, mut most) = (std::collections::BTreeSet::new(), 0);
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        let mut now = Vec::new();
        for run in &runs {
            now.extend(owner(&store, run).await);
        }
        most = most.max(now.len());
        owners.extend(now);
        let page = installation.json("/v1/runs").await;
        let listed = page["runs"].as_array().unwrap();
        if listed.iter().all(|run| run["status"] == "completed") {
            break;
        }
    }
    for run in &runs {
        assert_eq!(installation.ends(run).await, "completed");
    }
    assert_eq!((owners.len(), most), (2, 2), "{owners:?}");
    verified(&installation);
}

#[tokio::test]
async fn a_worker_that_is_killed_or_stopped_leaves_its_run_to_another() {
    let Some(installation) = Installation::in_postgres() else {
        return;
    };
    let _server = installation.serve_with(&["--runs-by-workers"]);
    let store = open(&installation.store()).await;
    let slow = ["--pace", "150"];
    let first = installation.work(&slow);
    let run = start(&installation).await;
    let of_first = owned_by_another(&store, &run, None).await;
    let second = installation.work(&slow);
    first.kill();
    let of_second = owned_by_another(&store, &run, Some(&of_first)).await;
    let _third = installation.work(&["--pace", "0"]);
    let (code, told) = second.terminate();
    assert_eq!(code, Some(0), "{told}");
    owned_by_another(&store, &run, Some(&of_second)).await;
    assert_eq!(installation.ends(&run).await, "completed");
    verified(&installation);
}

#[tokio::test]
async fn a_pause_over_the_network_reaches_the_worker_and_a_person_lets_it_go_on() {
    let Some(installation) = Installation::in_postgres() else {
        return;
    };
    let _server = installation.serve_with(&["--runs-by-workers"]);
    let store = open(&installation.store()).await;
    let _worker = installation.work(&["--pace", "150"]);
    let run = start(&installation).await;
    owned_by_another(&store, &run, None).await;
    let mut pause = irq();
    pause.args(["interrupt", &run, "--wait", "--yes"]);
    let begun = Instant::now();
    end(pause.env("IRQ_STORE", installation.store())).exits_with(0);
    println!("paused after {} ms", begun.elapsed().as_millis());
    let path = format!("/v1/runs/{run}");
    installation
        .until(&path, |run| (run["status"] == "paused").then_some(()))
        .await;
    let resumed = installation
        .post(&format!("{path}/resume"), &json!({}))
        .send()
        .await
        .unwrap();
    assert!(resumed.status().is_success(), "{resumed:?}");
    assert_eq!(installation.ends(&run).await, "completed");
    verified(&installation);
}

#[tokio::test]
async fn a_question_of_a_worker_is_put_aside_and_its_answer_wakes_any_worker() {
    let Some(installation) = Installation::in_postgres() else {
        return;
    };
    let _server = installation.serve_with(&["--runs-by-workers"]);
    let first = installation.work(&["--put-aside-after", "1s"]);
    let run = installation.start_asking().await;
    let questions = installation.questions(1).await;
    installation
        .until(&format!("/v1/runs/{run}"), |run| {
            (run["status"] == "waiting").then_some(())
        })
        .await;
    first.kill();
    let _second = installation.work(&[]);
    assert_eq!(
        installation.decide(&questions[0]).await.unwrap(),
        StatusCode::CREATED
    );
    assert_eq!(installation.ends(&run).await, "completed");
    verified(&installation);
}

#[tokio::test]
async fn a_store_of_one_machine_is_copied_for_many_and_its_question_is_answered_there() {
    let Some(many) = Installation::in_postgres() else {
        return;
    };
    let one = Installation::new();
    let server = one.serve();
    let run = one.start_asking().await;
    let question = one.questions(1).await.remove(0);
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        let mut copy = irq();
        copy.args(["store", "copy"]).arg(from).arg(to);
        end(&mut copy)
    };
    // Nothing is in the schema but the token of the other installation.
    let empty = many.store().display().to_string() + "_copy";
    copy(&one.store(), empty.as_ref())
        .exits_with(4)
        .says("is executed");
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
    copy(&one.store(), &many.store())
        .exits_with(4)
        .says("is not empty");
    let copied = copy(&one.store(), empty.as_ref()).exits_with(0);
    assert!(copied.output.contains("verified"), "{copied:#?}");
    let many = one.with_store(empty.into());
    let _server = many.serve();
    assert_eq!(many.decide(&question).await.unwrap(), StatusCode::CREATED);
    assert_eq!(many.ends(&run).await, "completed");
    verified(&many);
}

#[test]
fn a_worker_is_not_told_what_the_order_of_a_run_says() {
    end(irq().args(["worker", "--workspace", "."])).exits_with(2);
    end(irq().args(["worker", "--model", "rehearsal"])).exits_with(2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_for_ten_seconds_loses_nothing_and_all_go_on() {
    all_go_on_after(Duration::from_secs(10)).await;
}

/// The worker loses its runs meanwhile: their leases are over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_for_longer_than_a_lease_leaves_no_run_paused() {
    all_go_on_after(Duration::from_secs(20)).await;
}

async fn all_go_on_after(outage: Duration) {
    let Some(database) = DatabaseServer::start(&[]) else {
        return;
    };
    let installation = Installation::in_database(&database.address());
    let server = installation.serve_with(&["--runs-by-workers"]);
    let worker = installation.work(&["--pace", "150"]);
    let asking = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    let working = start(&installation).await;
    let store = open(&installation.store()).await;
    owned_by_another(&store, &working, None).await;

    database.die();
    // One who asks whether all is well does not wait as those do who want something done.
    let asked = Instant::now();
    for path in ["/readyz", "/metrics"] {
        let ready = installation.get(path).send().await.unwrap();
        assert_eq!(ready.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
    }
    println!("told after {} ms", asked.elapsed().as_millis());
    let comes_back = async {
        tokio::time::sleep(outage).await;
        tokio::task::spawn_blocking(|| database.come_back()).await
    };
    let (decided, database) = tokio::join!(installation.decide(&question), comes_back);
    assert_eq!(decided.unwrap(), StatusCode::CREATED);
    let _database = database.unwrap();
    assert_eq!(installation.ends(&asking).await, "completed");
    assert_eq!(installation.ends(&working).await, "completed");
    verified(&installation);
    for process in [server, worker] {
        let (code, told) = process.terminate();
        assert_eq!(code, Some(0), "{told}");
    }
}
