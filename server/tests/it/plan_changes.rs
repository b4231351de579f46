//! Plans over REST: read by anybody who may look, changed while they stand still, applied by a decision.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use interrupts::life::State;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::scene::{held_plan, running};

async fn change(house: &House, run: &str, body: &Value) -> Response {
    let path = format!("/v1/runs/{run}/plan/changes");
    house.post("reviewer", &path, body).send().await.unwrap()
}

async fn changed(house: &House, run: &str, body: &Value) -> Value {
    let response = change(house, run, body).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.json().await.unwrap()
}

#[tokio::test]
async fn a_plan_is_read_proposed_and_applied_by_a_decision_about_just_that_change() {
    let house = House::open().await;
    let (run, pause) = held_plan(&*house.store).await;
    let run = run.id.to_string();
    let path = format!("/v1/runs/{run}/plan");
    let plan = house.read(&path).await;
    assert_eq!(plan["done"][0]["task"], "knead");
    assert_eq!(plan["done"][0]["result"], "smooth dough");
    assert_eq!(plan["now"]["task"], "bake <b>hot</b>");
    assert_eq!(plan["next"][0]["task"], "sell");
    assert_eq!(plan["interrupt_id"], json!(pause.id));
    assert_eq!(plan.get("proposal"), None);
    let wanted = json!({"change": "propose", "tasks": ["cool", "sell"]});
    let told = changed(&house, &run, &wanted).await;
    assert_eq!(
        told["left"],
        json!(["bake <b>hot</b>", "sell"]),
        "not applied"
    );
    let proposal = house.read(&path).await["proposal"].clone();
    assert_eq!(proposal, told["proposal"]);
    assert_eq!(proposal["next"]["task"], "cool");
    let kinds: Vec<&str> = proposal["diff"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["change"].as_str().unwrap())
        .collect();
    assert!(
        kinds.contains(&"added") && kinds.contains(&"removed"),
        "{kinds:?}"
    );
    // What was shown before the change of the plan is not decided about.
    let decide = async |version: u64| {
        let path = format!("/v1/interrupts/{}/decisions", pause.id);
        let payload = json!({"plan": proposal["plan"], "previewed": proposal["digest"]});
        let body = json!({"decision": "modify_plan", "payload": payload});
        house
            .post("reviewer", &path, &body)
            .header("If-Match", format!("\"{version}\""))
            .send()
            .await
            .unwrap()
    };
    problem(decide(pause.version).await, StatusCode::PRECONDITION_FAILED).await;
    let now = house.store.interrupt(pause.id).await.unwrap().unwrap();
    assert!(decide(now.version).await.status().is_success());
    let decided = house.store.interrupt(pause.id).await.unwrap().unwrap();
    assert_eq!(decided.state, State::Resolved);
    assert_eq!(house.read(&path).await["is_decided"], true);
}

#[tokio::test]
async fn a_change_is_taken_back_once_however_often_its_request_is_sent() {
    let house = House::open().await;
    let (run, _pause) = held_plan(&*house.store).await;
    let run = run.id.to_string();
    let path = format!("/v1/runs/{run}/plan/changes");
    let undo = async |body: Value| {
        let request = house.post("reviewer", &path, &body);
        request
            .header("Idempotency-Key", "once")
            .send()
            .await
            .unwrap()
    };
    let first: Value = undo(json!({"change": "undo"})).await.json().await.unwrap();
    let again: Value = undo(json!({"change": "undo"})).await.json().await.unwrap();
    assert_eq!(first, again);
    assert_eq!(
        house.read(&format!("/v1/runs/{run}/plan")).await["checkpoint"],
        first["checkpoint"]
    );
    let other = undo(json!({"change": "redo"})).await;
    let refused = problem(other, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "idempotency-conflict");
    let redone = changed(&house, &run, &json!({"change": "redo"})).await;
    assert_eq!(redone["can_redo"], false);
    let more = change(&house, &run, &json!({"change": "redo"})).await;
    let refused = problem(more, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "plan-refused");
}

#[tokio::test]
async fn the_first_plan_is_not_taken_back() {
    let house = House::open().await;
    let (run, _pause) = held_plan(&*house.store).await;
    let run = run.id.to_string();
    for _change in ["the second", "the first"] {
        changed(&house, &run, &json!({"change": "undo"})).await;
    }
    let path = format!("/v1/runs/{run}/plan");
    let before = house.read(&path).await;
    assert_eq!(before["can_undo"], false, "{before:#}");
    let more = change(&house, &run, &json!({"change": "undo"})).await;
    let refused = problem(more, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "plan-refused");
    assert_eq!(refused["detail"], "there is nothing to undo");
    assert_eq!(house.read(&path).await, before);
}

#[tokio::test]
async fn a_model_that_thinks_longer_than_an_answer_may_take_is_asked_once_and_waited_for() {
    let house = House::with(|config| config.limits.answer_time = Duration::from_millis(200)).await;
    let (run, _pause) = held_plan(&*house.store).await;
    let path = format!("/v1/runs/{}/plan/changes", run.id);
    let suggest = async || {
        let body = json!({"change": "suggest", "request": "rest the dough"});
        let request = house.post("reviewer", &path, &body);
        request
            .header("Idempotency-Key", "think")
            .send()
            .await
            .unwrap()
    };
    let thinking = house.launcher.thinking.lock().await;
    problem(suggest().await, StatusCode::GATEWAY_TIMEOUT).await;
    problem(suggest().await, StatusCode::GATEWAY_TIMEOUT).await;
    drop(thinking);
    let begun = Instant::now();
    let told: Value = loop {
        let response = suggest().await;
        if response.status().is_success() {
            break response.json().await.unwrap();
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "never told");
    };
    assert_eq!(told["proposal"]["plan"], json!(["rest the dough"]));
    assert_eq!(house.launcher.thoughts.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_cannot_be_changed_says_why_and_what_to_do() {
    let house = House::open().await;
    let (run, pause) = held_plan(&*house.store).await;
    let run = run.id.to_string();
    let unfit = StatusCode::UNPROCESSABLE_ENTITY;
    for (body, code) in [
        (json!({"change": "propose"}), "invalid-body"),
        (json!({"change": "undo", "tasks": ["a"]}), "invalid-body"),
        (
            json!({"change": "suggest", "request": "  "}),
            "invalid-body",
        ),
        (json!({"change": "apply"}), "invalid-body"),
        (
            json!({"change": "propose", "tasks": ["a", " "]}),
            "plan-refused",
        ),
    ] {
        let refused = problem(change(&house, &run, &body).await, unfit).await;
        assert_eq!(refused["code"], code, "{body}");
    }
    let stale = json!({"change": "undo", "if_version": 99});
    let stale = problem(
        change(&house, &run, &stale).await,
        StatusCode::PRECONDITION_FAILED,
    )
    .await;
    assert!(stale["current_version"].is_u64(), "{stale}");
    let other = running(&*house.store, None).await.id.to_string();
    let none = problem(
        change(&house, &other, &json!({"change": "undo"})).await,
        unfit,
    )
    .await;
    assert_eq!(none["code"], "plan-refused");
    // Decided, it does not stand still for anybody any more.
    let now = house.store.interrupt(pause.id).await.unwrap().unwrap();
    let path = format!("/v1/interrupts/{}/decisions", pause.id);
    let body = json!({"decision": "resume"});
    let decided = house
        .post("reviewer", &path, &body)
        .header("If-Match", format!("\"{}\"", now.version))
        .send()
        .await
        .unwrap();
    assert!(decided.status().is_success());
    let late = change(&house, &run, &json!({"change": "undo"})).await;
    let late = problem(late, StatusCode::CONFLICT).await;
    assert_eq!(late["code"], "not-held");
}

#[tokio::test]
async fn a_change_without_steps_and_words_is_none() {
    let house = House::open().await;
    let (_run, pause) = held_plan(&*house.store).await;
    let path = format!("/v1/interrupts/{}/decisions", pause.id);
    for body in [
        json!({"decision": "modify_plan"}),
        json!({"decision": "modify_plan", "payload": {}}),
        json!({"decision": "modify_plan", "payload": {"input": " "}}),
        json!({"decision": "modify_plan", "message": ""}),
    ] {
        let request = house.post("reviewer", &path, &body);
        let request = request.header("If-Match", format!("\"{}\"", pause.version));
        let refused = request.send().await.unwrap();
        let refused = problem(refused, StatusCode::UNPROCESSABLE_ENTITY).await;
        assert_eq!(refused["code"], "response-schema", "{body}");
        assert_eq!(refused["errors"][0]["pointer"], "/payload/plan", "{body}");
    }
    let now = house.store.interrupt(pause.id).await.unwrap().unwrap();
    assert_eq!(now.state, State::AwaitingReview);
}
