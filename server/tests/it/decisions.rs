//! Decisions over REST: one wins, the others are told who and what; nothing else is decided than what was shown.

use interrupt_router::InterruptId;
use interrupts::life::{Role, State};
use jiff::SignedDuration;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, problem, token};
use crate::scene::{awaiting, held_plan, open_choice, open_question, question, running};

fn decisions(id: impl std::fmt::Display) -> String {
    format!("/v1/interrupts/{id}/decisions")
}

#[tokio::test]
async fn a_decision_needs_the_version_that_was_shown() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let body = json!({"decision": "approve"});
    let path = decisions(asked.id);
    let refused = house.post("reviewer", &path, &body).send().await.unwrap();
    let refused = problem(refused, StatusCode::PRECONDITION_REQUIRED).await;
    assert_eq!(refused["current_version"], asked.version);
    let stale = house
        .post("reviewer", &path, &body)
        .header("If-Match", "\"1\"")
        .send()
        .await
        .unwrap();
    let stale = problem(stale, StatusCode::PRECONDITION_FAILED).await;
    assert_eq!(stale["code"], "stale-version");
    let decided = house
        .post("reviewer", &path, &body)
        .header("If-Match", format!("\"{}\"", asked.version))
        .send()
        .await
        .unwrap();
    assert_eq!(decided.status(), StatusCode::CREATED);
    let decided: Value = decided.json().await.unwrap();
    assert_eq!(decided["decision"], "approve");
    assert_eq!(decided["by"], "reviewer");
}

#[tokio::test]
async fn without_having_read_it_one_may_claim_it_and_say_no_and_nothing_else() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let any = |request: reqwest::RequestBuilder| request.header("If-Match", "*").send();
    let claim = house.url(&format!("/v1/interrupts/{}/claim", asked.id));
    let claimed = house.client.put(&claim).json(&json!({"ttl_s": 60}));
    let claimed = any(claimed.bearer_auth(&house.tokens["reviewer"])).await;
    assert_eq!(claimed.unwrap().status(), StatusCode::OK);
    for body in [
        json!({"decision": "approve"}),
        json!({"decision": "respond", "message": "yes"}),
        json!({"decision": "cancel"}),
        json!({"decision": "reroute", "reroute_to": "ORCHESTRATOR"}),
    ] {
        let refused = any(house.post("reviewer", &decisions(asked.id), &body)).await;
        let refused = problem(refused.unwrap(), StatusCode::PRECONDITION_REQUIRED).await;
        assert!(refused["hint"].as_str().unwrap().contains("`reject`"));
    }
    let body = json!({"decision": "reject"});
    let decided = any(house.post("reviewer", &decisions(asked.id), &body)).await;
    assert_eq!(decided.unwrap().status(), StatusCode::CREATED);
    // Nothing is there of what does not exist.
    let unknown = decisions(InterruptId::generate());
    let unknown = any(house.post("reviewer", &unknown, &body)).await.unwrap();
    problem(unknown, StatusCode::NOT_FOUND).await;
}

#[tokio::test]
async fn of_many_who_decide_at_once_one_wins_and_the_others_are_told_who_and_what() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let mut racers = Vec::new();
    for number in 0..16 {
        let name = format!("racer-{number}");
        let secret = token(&*house.store, &name, Role::Reviewer).await;
        let request = house
            .client
            .post(house.url(&decisions(asked.id)))
            .bearer_auth(secret)
            .header("If-Match", format!("\"{}\"", asked.version))
            .json(&json!({"decision": "respond", "message": name}));
        racers.push(tokio::spawn(async move { request.send().await.unwrap() }));
    }
    let (mut winners, mut losers) = (Vec::new(), Vec::new());
    for racer in racers {
        let response = racer.await.unwrap();
        if response.status() == StatusCode::CREATED {
            winners.push(response.json::<Value>().await.unwrap());
        } else {
            losers.push(problem(response, StatusCode::CONFLICT).await);
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(losers.len(), 15);
    for loser in losers {
        assert_eq!(loser["code"], "already-resolved");
        assert_eq!(loser["resolved_by"], winners[0]["by"]);
        assert_eq!(loser["decision"], "respond");
        assert_eq!(loser["decision_id"], winners[0]["decision_id"]);
    }
}

#[tokio::test]
async fn the_same_request_sent_again_gives_the_same_answer_and_another_with_its_key_is_refused() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_choice(&*house.store, &run).await;
    let send = |message: &str| {
        house
            .post(
                "reviewer",
                &decisions(asked.id),
                &json!({"decision": "respond", "message": message}),
            )
            .header("If-Match", format!("\"{}\"", asked.version))
            .header("Idempotency-Key", "one")
            .send()
    };
    let first = send("narrow").await.unwrap();
    assert_eq!(first.status(), StatusCode::CREATED);
    let first: Value = first.json().await.unwrap();
    let again = send("narrow").await.unwrap();
    assert_eq!(again.status(), StatusCode::OK);
    assert_eq!(again.json::<Value>().await.unwrap(), first);
    let other = send("expand").await.unwrap();
    let other = problem(other, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(other["code"], "idempotency-conflict");
    // Another person's key of the same text is another key.
    let by_another = house
        .post(
            "supervisor",
            &decisions(asked.id),
            &json!({"decision": "respond", "message": "narrow"}),
        )
        .header("If-Match", format!("\"{}\"", asked.version))
        .header("Idempotency-Key", "one")
        .send()
        .await
        .unwrap();
    problem(by_another, StatusCode::CONFLICT).await;
}

#[tokio::test]
async fn what_was_stopped_has_no_answer_that_could_be_sent_elsewhere() {
    let house = House::open().await;
    let (_run, pause) = held_plan(&*house.store).await;
    let shown = house.read(&format!("/v1/interrupts/{}", pause.id)).await;
    let allowed = shown["allowed_decisions"].as_array().unwrap();
    assert!(allowed.contains(&json!("resume")) && !allowed.contains(&json!("reroute")));
    let body = json!({"decision": "reroute", "reroute_to": pause.routes[0]});
    let response = house
        .post("reviewer", &decisions(pause.id), &body)
        .header("If-Match", format!("\"{}\"", pause.version))
        .send()
        .await
        .unwrap();
    let refused = problem(response, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "decision-not-allowed");
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("POST /v1/interrupt-requests"), "{refused}");
    let kept = house.store.interrupt(pause.id).await.unwrap().unwrap();
    assert_eq!(kept.state, State::AwaitingReview);
}

#[tokio::test]
async fn a_person_sends_the_answer_elsewhere() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let response = house
        .post(
            "reviewer",
            &format!("/v1/interrupts/{}/reroute", asked.id),
            &json!({"reroute_to": "TICKET_ORCHESTRATOR"}),
        )
        .header("If-Match", format!("\"{}\"", asked.version))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    let shown = house.read(&format!("/v1/interrupts/{}", asked.id)).await;
    assert_eq!(shown["state"], "rerouted");
    assert_eq!(shown["decision"]["target"], "TICKET_ORCHESTRATOR");
    let schema = house
        .read(&format!("/v1/interrupts/{}/routing-schema", asked.id))
        .await;
    let fields: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["ticketOrchestratorRequest"]);
}

#[tokio::test]
async fn a_decision_about_something_else_than_was_shown_is_refused() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let other = interrupts::Digest::of(b"something else").to_string();
    let send = |digest: String| {
        house
            .post(
                "reviewer",
                &decisions(asked.id),
                &json!({"decision": "approve", "shown_digest": digest}),
            )
            .header("If-Match", format!("\"{}\"", asked.version))
            .send()
    };
    let refused = problem(send(other).await.unwrap(), StatusCode::PRECONDITION_FAILED).await;
    assert_eq!(refused["code"], "shown-differs");
    let shown = house.read(&format!("/v1/interrupts/{}", asked.id)).await;
    let right = shown["shown_digest"].as_str().unwrap().to_owned();
    assert_eq!(send(right).await.unwrap().status(), StatusCode::CREATED);
}

#[tokio::test]
async fn a_claim_keeps_others_from_deciding_until_it_is_given_back() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let claim = format!("/v1/interrupts/{}/claim", asked.id);
    let claimed = house
        .client
        .put(house.url(&claim))
        .bearer_auth(&house.tokens["reviewer"])
        .json(&json!({"ttl_s": 60}))
        .send()
        .await
        .unwrap();
    assert_eq!(claimed.status(), StatusCode::OK);
    let claimed: Value = claimed.json().await.unwrap();
    assert_eq!(claimed["claimed_by"]["by"], "reviewer");
    let version = claimed["version"].as_u64().unwrap();
    let response = house
        .post(
            "supervisor",
            &decisions(asked.id),
            &json!({"decision": "approve"}),
        )
        .header("If-Match", format!("\"{version}\""))
        .send()
        .await
        .unwrap();
    let refused = problem(response, StatusCode::CONFLICT).await;
    assert_eq!(refused["claimed_by"], "reviewer");
    let open = house.read("/v1/interrupts?status=claimed").await;
    assert_eq!(open["interrupts"].as_array().unwrap().len(), 1);
    let released = house
        .client
        .delete(house.url(&claim))
        .bearer_auth(&house.tokens["reviewer"])
        .send()
        .await
        .unwrap();
    assert_eq!(released.status(), StatusCode::OK);
    let open = house.read("/v1/interrupts?status=claimed").await;
    assert_eq!(open["interrupts"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn a_batch_says_what_came_of_each_and_decides_all_or_nothing_where_it_shall() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let one = open_question(&*house.store, &run).await;
    let other = open_question(&*house.store, &run).await;
    let item = |id: &dyn std::fmt::Display, version: u64| json!({"interrupt_id": id.to_string(), "version": version, "decision": "approve"});
    let mixed = json!([item(&one.id, one.version), item(&other.id, 1)]);
    let body = json!({"decisions": mixed, "all_or_nothing": true});
    let refused = house
        .post("reviewer", "/v1/interrupts:decide", &body)
        .send()
        .await
        .unwrap();
    let refused = problem(refused, StatusCode::CONFLICT).await;
    assert_eq!(refused["refused"][0]["interrupt_id"], other.id.to_string());
    let kept = house.store.interrupt(one.id).await.unwrap().unwrap();
    assert_eq!(kept.state, State::AwaitingReview);
    let body = json!({"decisions": mixed});
    let done = house
        .post("reviewer", "/v1/interrupts:decide", &body)
        .send()
        .await
        .unwrap();
    assert_eq!(done.status(), StatusCode::OK);
    let done: Value = done.json().await.unwrap();
    assert_eq!(done["decided"], 1);
    assert_eq!(done["results"][0]["decision"]["decision"], "approve");
    assert_eq!(done["results"][1]["problem"]["code"], "stale-version");
}

#[tokio::test]
async fn an_interrupt_that_nobody_answers_in_time_expires_and_is_never_approved() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut admission = question(&run, "quick!");
    admission.patience = Some(SignedDuration::from_millis(1));
    let asked = awaiting(&*house.store, admission).await;
    let response = house
        .post(
            "reviewer",
            &decisions(asked.id),
            &json!({"decision": "approve"}),
        )
        .header("If-Match", format!("\"{}\"", asked.version))
        .send()
        .await
        .unwrap();
    problem(response, StatusCode::GONE).await;
    house.store.sweep(10).await.unwrap();
    let shown = house.read(&format!("/v1/interrupts/{}", asked.id)).await;
    assert_eq!(shown["state"], "expired");
    assert_eq!(shown["decision"]["decision"], "reject");
}

#[tokio::test]
async fn a_decision_of_a_run_that_nobody_executes_makes_it_go_on_here() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    house.store.release_run(run.id, run.epoch).await.unwrap();
    house
        .post(
            "reviewer",
            &decisions(asked.id),
            &json!({"decision": "approve"}),
        )
        .header("If-Match", format!("\"{}\"", asked.version))
        .send()
        .await
        .unwrap()
        .error_for_status()
        .unwrap();
    assert_eq!(*house.launcher.woken.lock().await, [run.id]);
}
