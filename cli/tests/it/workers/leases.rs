//! A run has one worker, in an epoch; what another one writes is refused.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, WORKFLOW, question, token_of};
use crate::program::{end, irq};

/// Every operation that writes, as a worker with this epoch would ask for it.
fn writing(run: &str, epoch: u64) -> Vec<(Method, String, Value)> {
    let path = |rest: &str| format!("/v1/work/{run}/{rest}?epoch={epoch}");
    let agent = json!({"agent_id": "root/refunds", "kind": "REFUNDS", "status": "running"});
    vec![
        (Method::PUT, path("lease"), json!({})),
        (Method::PUT, path("agents"), json!({"agents": [agent]})),
        (Method::PUT, path("questions/other"), question("LEGAL")),
        (Method::DELETE, path("questions/refund"), json!({})),
        (
            Method::POST,
            path("questions/refund/request"),
            json!({"answer": {}}),
        ),
        (Method::GET, path("signals"), json!({})),
        (
            Method::POST,
            path("messages/read"),
            json!({"positions": [1]}),
        ),
        (
            Method::PUT,
            path("readings/first"),
            json!({"agent_id": "root"}),
        ),
        (
            Method::PUT,
            path("effects/pay"),
            json!({"agent_id": "root"}),
        ),
        (
            Method::PUT,
            path("effects/pay/result"),
            json!({"result": 1}),
        ),
        (Method::POST, path("checkpoints"), json!({"state": 1})),
        (Method::POST, path("stopped"), json!({})),
        (Method::POST, path("end"), json!({"state": "completed"})),
        (Method::DELETE, path("lease"), json!({})),
    ]
}

#[tokio::test]
async fn whichever_worker_lost_its_run_writes_nothing() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    run.asks("refund", "REFUNDS").await;
    run.put("lease", &json!({"lease_ms": 1000})).await.fine();
    let lease = format!("/v1/work/{}/lease", run.id);
    desk.post(&lease, &json!({"worker": "second"}))
        .await
        .refused(409, "run-owned");
    desk.delete(&run.path("lease")).await.fine();
    // Let go is lost too, though no other worker has taken it.
    for (method, path, body) in writing(&run.id, run.epoch) {
        desk.asks(&desk.worker, method, &path, Some(&body))
            .await
            .refused(409, "lease-lost");
    }
    let second = desk.takes(&run.id, "second").await;
    assert!(second.epoch > run.epoch);
    let before = audited(&desk).await;
    for (method, path, body) in writing(&run.id, run.epoch) {
        let told = desk.asks(&desk.worker, method, &path, Some(&body)).await;
        let refused = told.refused(409, "lease-lost");
        assert_eq!(refused["epoch"], second.epoch, "{refused}");
    }
    assert_eq!(audited(&desk).await, before, "something was written");
    let stands = run.stands().await;
    assert_eq!(
        (&stands["state"], &stands["worker"]),
        (&json!("running"), &json!("second"))
    );
}

/// How many rows the audit has.
async fn audited(desk: &Desk) -> u64 {
    let history = desk.installation.json("/v1/history/verify").await;
    history["position"].as_u64().unwrap()
}

#[tokio::test]
async fn a_lease_that_runs_out_lets_the_next_worker_take_the_run() {
    let desk = Desk::open().await;
    let path = format!("/v1/workflows/{WORKFLOW}/leases");
    let created = format!("/v1/workflows/{WORKFLOW}/runs");
    desk.post(&created, &json!({"input": "a", "thread_id": "one"}))
        .await
        .fine();
    let again = desk
        .post(&created, &json!({"input": "a", "thread_id": "one"}))
        .await;
    assert_eq!(again.status, 200, "{again:?}");
    let other = json!({"input": "b", "thread_id": "one"});
    desk.post(&created, &other).await.refused(409, "name-taken");
    let brief = json!({"worker": "first", "lease_ms": 1000});
    let first = desk.post(&path, &brief).await.fine();
    assert_eq!(first["input"], "a");
    let none = desk.post(&path, &json!({"worker": "second"})).await;
    assert_eq!(none.status, 204);
    // One request waits for whatever can be taken: here that is over with the lease of the first, of which nothing tells.
    let waiting = format!("{path}?wait_ms=20000");
    let begun = Instant::now();
    let next = desk.post(&waiting, &json!({"worker": "second"})).await;
    let next = next.fine();
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(next["run_id"], first["run_id"]);
    assert_eq!(next["worker"], "second");
}

#[tokio::test]
async fn a_run_that_is_let_go_is_taken_at_once_by_a_worker_that_waits() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let path = format!("/v1/workflows/{WORKFLOW}/leases?wait_ms=20000");
    let second = json!({"worker": "second"});
    let letting_go = async {
        // The other one waits by then.
        tokio::time::sleep(Duration::from_millis(200)).await;
        desk.delete(&run.path("lease")).await.fine();
        Instant::now()
    };
    let taking = async { (desk.post(&path, &second).await, Instant::now()) };
    let (let_go, (taken, at)) = tokio::join!(letting_go, taking);
    assert_eq!(taken.fine()["run_id"], run.id);
    // Its lease would have held for 30 s.
    assert!(at.duration_since(let_go) < Duration::from_secs(5));
}

#[tokio::test]
async fn a_run_that_waits_for_people_is_taken_once_one_of_them_has_answered() {
    let mut desk = Desk::open().await;
    let run = desk.run().await;
    let (id, first) = (run.id.clone(), run.asks("refund", "REFUNDS").await);
    run.asks("legal", "LEGAL").await;
    desk.delete(&run.path("lease?waiting=true")).await.fine();
    assert_eq!(run.stands().await["state"], "waiting");
    let path = format!("/v1/workflows/{WORKFLOW}/leases");
    let taking = json!({"worker": "second"});
    assert_eq!(desk.post(&path, &taking).await.status, 204);
    let approve = json!({"decision": "approve", "message": "yes"});
    desk.decides(&first["interrupt_id"], &approve).await.fine();
    desk.dies_and_comes_back();
    let taken = desk.post(&path, &taking).await;
    assert_eq!(taken.fine()["run_id"], id);
}

#[tokio::test]
async fn of_many_waiting_runs_an_idle_worker_takes_the_answered_one_at_once() {
    let desk = Desk::open().await;
    let mut waiting = Vec::new();
    for _run in 0..6 {
        let run = desk.run().await;
        let asked = run.asks("refund", "REFUNDS").await;
        desk.delete(&run.path("lease?waiting=true")).await.fine();
        waiting.push((run.id.clone(), asked["interrupt_id"].clone()));
    }
    let path = format!("/v1/workflows/{WORKFLOW}/leases");
    let (second, third) = (json!({"worker": "second"}), json!({"worker": "third"}));
    assert_eq!(desk.post(&path, &second).await.status, 204);
    let approve = json!({"decision": "approve", "message": "yes"});
    for (place, beside_the_server) in [(3, false), (0, true), (2, true), (0, false)] {
        let (id, interrupt) = waiting.remove(place);
        if beside_the_server {
            let review = [
                "review",
                interrupt.as_str().unwrap(),
                "--decision",
                "approve",
                "--message",
                "yes",
            ];
            let store = desk.installation.store();
            end(irq().args(review).env("IRQ_STORE", store)).exits_with(0);
        } else {
            desk.decides(&interrupt, &approve).await.fine();
        }
        let taken = desk.post(&path, &second).await.fine();
        assert_eq!(taken["run_id"], id);
        assert_eq!(desk.post(&path, &second).await.status, 204);
    }
    for (_id, interrupt) in &waiting {
        desk.decides(interrupt, &approve).await.fine();
    }
    let (one, other) = tokio::join!(desk.post(&path, &second), desk.post(&path, &third));
    let mut taken = [one.fine(), other.fine()].map(|it| it["run_id"].as_str().unwrap().to_owned());
    taken.sort();
    let mut left: Vec<_> = waiting.into_iter().map(|(id, _interrupt)| id).collect();
    left.sort();
    assert_eq!(taken.as_slice(), left);
}

#[tokio::test]
async fn a_worker_reaches_its_own_workflow_alone_and_never_decides() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let asked = run.asks("refund", "REFUNDS").await;
    let stranger = token_of(&desk.installation, "other-desk");
    let own = format!("/v1/work/{}", run.id);
    desk.asks(&stranger, Method::GET, &own, None)
        .await
        .refused(404, "run-not-found");
    let workflow = format!("/v1/workflows/{WORKFLOW}");
    let told = desk.asks(&stranger, Method::GET, &workflow, None).await;
    told.refused(404, "workflow-not-found");
    for (method, path, body) in writing(&run.id, run.epoch) {
        let told = desk.asks(&stranger, method, &path, Some(&body)).await;
        told.refused(404, "run-not-found");
    }
    let interrupt = asked["interrupt_id"].as_str().unwrap();
    let decide = format!("/v1/interrupts/{interrupt}/decisions");
    let approve = json!({"decision": "approve", "message": "yes"});
    for token in [&desk.worker, &stranger] {
        let told = desk
            .asks(token, Method::POST, &decide, Some(&approve))
            .await;
        told.refused(403, "forbidden");
        for path in ["/v1/interrupts", "/v1/runs", "/v1/history", "/v1/events"] {
            desk.asks(token, Method::GET, path, None)
                .await
                .refused(403, "forbidden");
        }
    }
    assert_eq!(run.get("questions/refund").await.fine()["state"], "open");
}

#[tokio::test]
async fn a_run_ends_as_its_worker_says_and_takes_its_agents_and_questions_with_it() {
    let desk = Desk::open().await;
    for (state, reason) in [
        ("completed", "paid"),
        ("failed", "the bank is closed"),
        ("cancelled", "no order"),
    ] {
        let run = desk.run().await;
        let asked = run.asks("refund", "REFUNDS").await;
        let end = json!({"state": state, "reason": reason, "result": {"paid": 12}});
        let ended = run.post("end", &end).await.fine();
        assert_eq!(
            (&ended["state"], &ended["reason"]),
            (&json!(state), &json!(reason))
        );
        let result = if state == "completed" {
            json!({"paid": 12})
        } else {
            json!(null)
        };
        assert_eq!(ended["result"], result);
        run.post("end", &end).await.refused(409, "run-finished");
        let lease = format!("/v1/work/{}/lease", run.id);
        desk.post(&lease, &json!({"worker": "second"}))
            .await
            .refused(409, "run-finished");
        let interrupt = asked["interrupt_id"].as_str().unwrap();
        let interrupt = desk
            .installation
            .json(&format!("/v1/interrupts/{interrupt}"))
            .await;
        assert_eq!(interrupt["state"], "cancelled");
        let agents = desk
            .installation
            .json(&format!("/v1/runs/{}/tree", run.id))
            .await;
        let told = agents.to_string();
        assert!(told.contains(&format!("\"status\":\"{state}\"")), "{told}");
        assert!(!told.contains("running"), "{told}");
    }
}

#[tokio::test]
async fn a_run_whose_worker_died_while_it_ended_it_is_taken_by_the_next() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    let root = json!({"agent_id": "root", "kind": "ORCHESTRATOR", "status": "completed"});
    run.put("agents", &json!({"agents": [root]})).await.fine();
    desk.delete(&run.path("lease")).await.fine();
    let run = desk.takes(&run.id, "second").await;
    let end = json!({"state": "completed", "result": 1});
    assert_eq!(run.post("end", &end).await.fine()["state"], "completed");
}

#[tokio::test]
async fn a_try_that_is_sent_again_has_the_run_that_it_took_and_no_other_one_has() {
    let mut desk = Desk::open().await;
    let created = format!("/v1/workflows/{WORKFLOW}/runs");
    for input in ["a", "b"] {
        desk.post(&created, &json!({"input": input})).await.fine();
    }
    let next = format!("/v1/workflows/{WORKFLOW}/leases");
    let first = desk.tries("one", &next).await.fine();
    let own = format!("/v1/work/{}/lease", first["run_id"].as_str().unwrap());
    desk.dies_and_comes_back();
    // Its answer was lost: it is told once more. Another try of the same worker is another one.
    assert_eq!(desk.tries("one", &next).await.fine(), first);
    desk.tries("two", &own).await.refused(409, "run-owned");
    desk.post(&own, &json!({"worker": "first"}))
        .await
        .refused(409, "run-owned");
    let second = desk.tries("two", &next).await.fine();
    assert_ne!(second["run_id"], first["run_id"]);
    assert_eq!(second["worker"], "first");
    let released = format!("{own}?epoch={}", first["epoch"]);
    desk.delete(&released).await.fine();
    // An older run is free by now.
    assert_eq!(desk.tries("two", &next).await.fine(), second);
    let taken = desk.tries("three", &own).await.fine();
    assert_eq!(desk.tries("three", &own).await.fine(), taken);
    desk.tries("four", &own).await.refused(409, "run-owned");
}

#[tokio::test]
async fn a_run_is_taken_once_however_often_its_worker_asks_at_the_same_time() {
    let desk = Desk::open().await;
    let created = format!("/v1/workflows/{WORKFLOW}/runs");
    for input in 0..3 {
        desk.post(&created, &json!({"input": input})).await.fine();
    }
    let path = format!("/v1/workflows/{WORKFLOW}/leases");
    let (path, desk) = (&path, &desk);
    let tries = (0..12).map(|nth| async move {
        match nth % 2 {
            0 => desk.tries(&nth.to_string(), path).await,
            _ => desk.post(path, &json!({"worker": "first"})).await,
        }
    });
    let told = join_all(tries).await;
    let taken = told.into_iter().filter(|it| it.status == 200);
    let mut taken: Vec<String> = taken.map(|it| it.fine()["run_id"].to_string()).collect();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), 3);
    for run in taken {
        let path = format!("/v1/work/{}", run.trim_matches('"'));
        assert_eq!(desk.get(&path).await.fine()["epoch"], 1, "taken twice");
    }
}

#[tokio::test]
async fn a_run_that_waits_is_not_taken_for_an_event_that_its_worker_was_told_of() {
    let desk = Desk::open().await;
    let run = desk.run().await;
    run.asks("legal", "LEGAL").await;
    let refunds = json!({"agent_id": "root/refunds", "kind": "REFUNDS", "status": "running"});
    run.put("agents", &json!({"agents": [refunds]}))
        .await
        .fine();
    let path = format!("/v1/workflows/{WORKFLOW}/leases");
    let taking = json!({"worker": "second"});
    desk.delete(&run.path("lease?waiting=true")).await.fine();
    desk.event(&run.id, "evt-1").await;
    let taken = desk.post(&path, &taking).await.fine();
    let epoch = &taken["epoch"];
    let signals = format!("/v1/work/{}/signals?epoch={epoch}", run.id);
    assert_eq!(
        desk.get(&signals).await.fine()["asked"][0]["reroute_to"],
        "LEGAL"
    );
    let lease = format!("/v1/work/{}/lease?waiting=true&epoch={epoch}", run.id);
    desk.delete(&lease).await.fine();
    assert_eq!(desk.post(&path, &taking).await.status, 204);
}

/// What a worker with these labels is given next.
async fn next_for(desk: &Desk, labels: &[&str]) -> Option<String> {
    let path = format!("/v1/workflows/{WORKFLOW}/leases");
    let body = json!({"worker": format!("with {}", labels.len()), "labels": labels});
    let answer = desk.post(&path, &body).await;
    let run = answer.body["run_id"].as_str().map(str::to_owned);
    assert_eq!(answer.status, if run.is_some() { 200 } else { 204 });
    run
}

#[tokio::test]
async fn a_run_goes_to_a_worker_that_has_all_that_it_needs_and_to_no_other() {
    let desk = Desk::open().await;
    let runs = format!("/v1/workflows/{WORKFLOW}/runs");
    let created = async |alias: &str, needs: &[&str]| {
        let body = json!({"input": alias, "thread_id": alias, "needs": needs});
        let answer = desk.post(&runs, &body).await.fine();
        answer["run_id"].as_str().unwrap().to_owned()
    };
    let large = created("large", &["region=eu", "gpu"]).await;
    assert_eq!(created("large", &["gpu", "region=eu"]).await, large);
    let plain = created("plain", &[]).await;
    assert_eq!(next_for(&desk, &["gpu"]).await, Some(plain));
    assert_eq!(next_for(&desk, &["gpu"]).await, None);
    let lease = format!("/v1/work/{large}/lease");
    let refused = desk
        .post(&lease, &json!({"worker": "by name", "labels": ["gpu"]}))
        .await
        .refused(422, "invalid-body");
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.contains("labels") && detail.contains("gpu, region=eu"),
        "{refused}"
    );
    let has_all = ["tools", "gpu", "region=eu"];
    assert_eq!(next_for(&desk, &has_all).await, Some(large));
    let wrong = json!({"worker": "w", "labels": ["no label"]});
    let path = format!("/v1/workflows/{WORKFLOW}/leases");
    desk.post(&path, &wrong).await.refused(422, "invalid-body");
}
