//! Runs and agents over REST.

use interrupts::life::RunState;
use interrupts::store::Page;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::scene::{checkpoint, open_question, pause_with_checkpoint, running};

#[tokio::test]
async fn a_run_is_started_and_found_by_its_clients_name() {
    let house = House::open().await;
    let body = json!({"goal": "ship it", "thread_id": "thread-123"});
    let started = house
        .post("supervisor", "/v1/runs", &body)
        .send()
        .await
        .unwrap();
    assert_eq!(started.status(), StatusCode::CREATED);
    let location = started.headers()["location"].to_str().unwrap().to_owned();
    let started: Value = started.json().await.unwrap();
    assert_eq!(started["goal"], "ship it");
    assert_eq!(house.read(&location).await["thread_id"], "thread-123");
    let named = house.read("/v1/runs/thread-123").await;
    assert_eq!(named["run_id"], started["run_id"]);
    let taken = house.post(
        "supervisor",
        "/v1/runs",
        &json!({"goal": "other", "thread_id": "thread-123"}),
    );
    let taken = problem(taken.send().await.unwrap(), StatusCode::CONFLICT).await;
    assert_eq!(taken["code"], "name-taken");
    let long = "x".repeat(201);
    let of_a_run = started["run_id"].as_str().unwrap();
    for name in ["", "  ", "a\nb", "a\u{202e}b", of_a_run, &long] {
        let order = json!({"goal": "other", "thread_id": name});
        let refused = house.post("supervisor", "/v1/runs", &order);
        let refused = problem(
            refused.send().await.unwrap(),
            StatusCode::UNPROCESSABLE_ENTITY,
        )
        .await;
        assert_eq!(refused["errors"][0]["pointer"], "/thread_id", "{name:?}");
    }
    let empty = house.post("supervisor", "/v1/runs", &json!({"goal": ""}));
    problem(
        empty.send().await.unwrap(),
        StatusCode::UNPROCESSABLE_ENTITY,
    )
    .await;
}

#[tokio::test]
async fn agents_are_listed_as_a_tree_and_found_by_either_address() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let tree = house.read(&format!("/v1/runs/{}/tree", run.id)).await;
    assert_eq!(tree[0]["node_id"], "orchestrator");
    assert_eq!(tree[0]["children"][0]["node_id"], "orchestrator/discovery");
    for path in [
        "/v1/agents/orchestrator%2Fdiscovery".to_owned(),
        format!("/v1/agents/{}%2Forchestrator%2Fdiscovery", run.id),
    ] {
        assert_eq!(
            house.read(&path).await["agent_type"],
            "DISCOVERY_ORCHESTRATOR"
        );
    }
    let other = running(&*house.store, None).await;
    let ambiguous = house
        .get("viewer", "/v1/agents/orchestrator")
        .send()
        .await
        .unwrap();
    let ambiguous = problem(ambiguous, StatusCode::CONFLICT).await;
    assert_eq!(
        ambiguous["agents"],
        json!([
            format!("{}/orchestrator", run.id),
            format!("{}/orchestrator", other.id)
        ])
    );
    let none = house
        .get("viewer", "/v1/agents/nobody")
        .send()
        .await
        .unwrap();
    problem(none, StatusCode::NOT_FOUND).await;
}

#[tokio::test]
async fn a_run_that_has_ended_takes_no_stop_and_no_message() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    house
        .store
        .change_run(run.id, run.epoch, RunState::Completed, None)
        .await
        .unwrap();
    for (path, body) in [
        (
            format!("/v1/agents/{}%2Forchestrator/interrupts", run.id),
            json!({}),
        ),
        (
            format!("/v1/agents/{}%2Forchestrator/messages", run.id),
            json!({"text": "hello"}),
        ),
        (format!("/v1/runs/{}/cancel", run.id), json!({})),
        (format!("/v1/runs/{}/resume", run.id), json!({})),
    ] {
        let response = house.post("supervisor", &path, &body).send().await.unwrap();
        let refused = problem(response, StatusCode::CONFLICT).await;
        assert_eq!(refused["code"], "run-finished", "{path}");
    }
}

#[tokio::test]
async fn a_message_is_kept_for_the_agent_once() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let path = format!("/v1/agents/{}%2Forchestrator/messages", run.id);
    for _ in 0..2 {
        let sent = house
            .post(
                "supervisor",
                &path,
                &json!({"text": "look at the tests too"}),
            )
            .header("Idempotency-Key", "m1")
            .send()
            .await
            .unwrap();
        assert_eq!(sent.status(), StatusCode::ACCEPTED);
    }
    let page = Page {
        after: 0,
        limit: 10,
    };
    let kept = house.store.messages(run.id, page).await.unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].message.text, "look at the tests too");
    assert_eq!(kept[0].message.from.name.as_str(), "supervisor");
}

#[tokio::test]
async fn a_run_with_open_questions_is_not_resumed_over_them() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let path = format!("/v1/runs/{}/resume", run.id);
    let response = house
        .post("supervisor", &path, &json!({}))
        .send()
        .await
        .unwrap();
    let refused = problem(response, StatusCode::CONFLICT).await;
    assert_eq!(refused["code"], "open-interrupts");
    assert_eq!(refused["open_interrupts"], json!([asked.id.to_string()]));
}

#[tokio::test]
async fn input_for_a_run_that_nothing_holds_comes_with_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    house.store.release_run(run.id, run.epoch).await.unwrap();
    let path = format!("/v1/runs/{}/resume", run.id);
    let body = json!({"input": "mind the oven"});
    let resumed = house.post("supervisor", &path, &body).send().await.unwrap();
    assert_eq!(resumed.status(), StatusCode::ACCEPTED);
    assert_eq!(*house.launcher.resumed.lock().await, [run.id]);
    assert_eq!(*house.launcher.given.lock().await, ["mind the oven"]);
}

#[tokio::test]
async fn a_run_goes_on_from_a_checkpoint_as_a_run_of_its_own() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let number = checkpoint(&*house.store, &run).await;
    let listed = house
        .read(&format!("/v1/runs/{}/checkpoints", run.id))
        .await;
    assert_eq!(listed["checkpoints"][0]["number"], number);
    let path = format!("/v1/runs/{}/resume", run.id);
    let forked = house.post("supervisor", &path, &json!({"checkpoint": number}));
    let forked = forked.send().await.unwrap();
    assert_eq!(forked.status(), StatusCode::ACCEPTED);
    let forked: Value = forked.json().await.unwrap();
    let shown = house
        .read(&format!("/v1/runs/{}", forked["run_id"].as_str().unwrap()))
        .await;
    assert_eq!(shown["forked_from"], format!("{}/{number}", run.id));
}

#[tokio::test]
async fn history_tells_who_did_what_and_its_chain_is_verified() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    house
        .post(
            "reviewer",
            &format!("/v1/interrupts/{}/decisions", asked.id),
            &json!({"decision": "approve"}),
        )
        .header("If-Match", format!("\"{}\"", asked.version))
        .send()
        .await
        .unwrap()
        .error_for_status()
        .unwrap();
    let by_reviewer = house.read("/v1/history?actor=reviewer").await;
    let rows = by_reviewer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["entry"]["event"], "decide");
    let lines = house
        .get("viewer", &format!("/v1/history?run_id={}", run.id))
        .header("Accept", "application/x-ndjson")
        .send()
        .await
        .unwrap();
    assert_eq!(lines.headers()["content-type"], "application/x-ndjson");
    let lines = lines.text().await.unwrap();
    assert!(lines.lines().count() > 5);
    for line in lines.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["entry"]["run"], run.id.to_string());
    }
    let head = house.read("/v1/history/verify").await;
    assert!(head["position"].as_u64().unwrap() >= rows[0]["position"].as_u64().unwrap());
    let kept = house.store.interrupt(asked.id).await.unwrap().unwrap();
    assert!(kept.decision.is_some());
}

#[tokio::test]
async fn health_is_told_to_everybody_and_metrics_to_those_who_may_look() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    open_question(&*house.store, &run).await;
    for path in ["/livez", "/readyz", "/openapi.json"] {
        let response = house.client.get(house.url(path)).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
    }
    let metrics = house.get("viewer", "/metrics").send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    for line in [
        "irq_open_interrupts{kind=\"human_review\"} 1",
        "irq_runs{state=\"running\"} 1",
        "irq_request_seconds_count{route=\"/livez\"} 1",
        "irq_takeovers_total 0",
        concat!(
            "irq_build_info{version=\"",
            env!("CARGO_PKG_VERSION"),
            "\"} 1"
        ),
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
}

#[tokio::test]
async fn metrics_tell_how_long_stops_take_and_how_many_results_came_too_late() {
    let house = House::open().await;
    // What had happened before the server began is not counted.
    house.read("/v1/runs").await;
    let run = running(&*house.store, None).await;
    open_question(&*house.store, &run).await;
    pause_with_checkpoint(&*house.store, &run).await;
    let told = |metrics: &str, line: &str| metrics.lines().any(|it| it == line);
    // At once, though nobody reads the feed.
    let metrics = house.get("viewer", "/metrics").send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    for line in [
        "irq_interrupt_phase_seconds_count{phase=\"applied\"} 1",
        "irq_interrupt_phase_seconds_count{phase=\"checkpoint\"} 1",
        "irq_interrupt_phase_seconds_count{phase=\"ack\"} 2",
        "irq_late_results_dropped_total 3",
    ] {
        assert!(told(&metrics, line), "{line}: {metrics}");
    }
    let read = metrics
        .lines()
        .find_map(|line| line.strip_prefix("irq_feed_lag_seconds_count "));
    let read: u64 = read.unwrap().parse().unwrap();
    assert!(read > 0, "{metrics}");
    let again = house.get("viewer", "/metrics").send().await.unwrap();
    let again = again.text().await.unwrap();
    assert!(told(&again, "irq_late_results_dropped_total 3"), "{again}");
}
