//! A request that is sent again with its key has the answer that it had, and its key takes no other one.

use std::time::Duration;

use interrupt_router::InterruptType;
use interrupts::life::{Admission, Interrupt, RunState, State};
use interrupts::store::{Page, Run, Store};
use jiff::SignedDuration;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::scene::{awaiting, checkpoint, delivery, held_plan, open_question, question, running};

async fn send(house: &House, path: &str, body: &Value, key: &str) -> Response {
    let request = house.post("supervisor", path, body);
    let request = request.header("Idempotency-Key", key);
    request.send().await.unwrap()
}

/// What the same request is answered, after a look at its status.
async fn answer(response: Response, status: StatusCode) -> Value {
    let found = response.status();
    let body: Value = response.json().await.unwrap();
    assert_eq!(found, status, "{body}");
    body
}

async fn conflict(response: Response) -> Value {
    let refused = problem(response, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "idempotency-conflict", "{refused}");
    refused
}

async fn runs(store: &dyn Store) -> usize {
    let page = Page {
        after: 0,
        limit: 100,
    };
    store.runs(&[], page).await.unwrap().len()
}

#[tokio::test]
async fn a_run_is_started_once_however_often_it_is_asked_for_with_one_key() {
    let house = House::open().await;
    let body = json!({"goal": "ship it", "options": {"seed": 7, "model": "rehearsal"}});
    let first = send(&house, "/v1/runs", &body, "once-1").await;
    let first = answer(first, StatusCode::CREATED).await;
    // In whatever order its client names the options.
    let again = json!({"options": {"model": "rehearsal", "seed": 7}, "goal": "ship it"});
    let again = send(&house, "/v1/runs", &again, "once-1").await;
    let location = again.headers()["location"].to_str().unwrap().to_owned();
    let again = answer(again, StatusCode::OK).await;
    assert_eq!(again["run_id"], first["run_id"]);
    assert_eq!(
        location,
        format!("/v1/runs/{}", first["run_id"].as_str().unwrap())
    );
    for other in [
        json!({"goal": "ship it"}),
        json!({"goal": "ship it", "options": body["options"], "thread_id": "t"}),
        json!({"goal": "sink it", "options": body["options"]}),
    ] {
        let refused = conflict(send(&house, "/v1/runs", &other, "once-1").await).await;
        assert_eq!(refused["run_id"], first["run_id"], "{other}");
    }
    assert_eq!(runs(&*house.store).await, 1);
    // Another key, another caller and no key are other requests.
    answer(
        send(&house, "/v1/runs", &body, "once-2").await,
        StatusCode::CREATED,
    )
    .await;
    for role in ["admin", "supervisor"] {
        let mut request = house.post(role, "/v1/runs", &body);
        if role == "admin" {
            request = request.header("Idempotency-Key", "once-1");
        }
        answer(request.send().await.unwrap(), StatusCode::CREATED).await;
    }
    assert_eq!(runs(&*house.store).await, 4);
}

#[tokio::test]
async fn a_decision_that_shall_be_remembered_is_another_one_than_one_that_shall_not() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let plain = json!({"decision": "approve"});
    let remembered = |uses: u32, seconds: u32, scope: &str| json!({"decision": "approve", "remember": {"scope": scope, "ttl_s": seconds, "max_uses": uses}});
    let first = remembered(2, 60, "run");
    for (made, others) in [
        (plain.clone(), vec![first.clone()]),
        (
            first,
            vec![
                plain,
                remembered(3, 60, "run"),
                remembered(2, 61, "run"),
                remembered(2, 60, "agent"),
            ],
        ),
    ] {
        let asked = open_question(&*house.store, &run).await;
        let path = format!("/v1/interrupts/{}/decisions", asked.id);
        let decide = async |body: &Value| {
            let request = house.post("reviewer", &path, body);
            let request = request.header("If-Match", format!("\"{}\"", asked.version));
            request.header("Idempotency-Key", "d").send().await.unwrap()
        };
        let first = answer(decide(&made).await, StatusCode::CREATED).await;
        for other in others {
            conflict(decide(&other).await).await;
        }
        assert_eq!(answer(decide(&made).await, StatusCode::OK).await, first);
    }
    let rules = house.read("/v1/rules").await;
    assert_eq!(rules["rules"].as_array().unwrap().len(), 1, "{rules}");
}

#[tokio::test]
async fn a_rule_with_another_end_is_another_rule() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let shown = house.read(&format!("/v1/interrupts/{}", asked.id)).await;
    let body = |seconds: u32| {
        json!({
            "interrupt_id": asked.id, "shown_digest": shown["shown_digest"], "decision": "approve",
            "scope": "run", "ttl_s": seconds, "max_uses": 1,
        })
    };
    let first = send(&house, "/v1/rules", &body(60), "r").await;
    let first = answer(first, StatusCode::CREATED).await;
    let again = send(&house, "/v1/rules", &body(60), "r").await;
    assert_eq!(answer(again, StatusCode::CREATED).await, first);
    conflict(send(&house, "/v1/rules", &body(61), "r").await).await;
}

#[tokio::test]
async fn a_stop_is_asked_for_once_whatever_became_of_its_run() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let path = format!("/v1/runs/{}/cancel", run.id);
    let body = json!({"reason": "enough"});
    let first = answer(send(&house, &path, &body, "s").await, StatusCode::ACCEPTED).await;
    // While it is under way, too, the key takes no other request.
    conflict(send(&house, &path, &json!({"reason": "more"}), "s").await).await;
    let again = answer(send(&house, &path, &body, "s").await, StatusCode::OK).await;
    assert_eq!(again["id"], first["id"]);
    for state in [RunState::Stopping, RunState::Cancelled] {
        let changed = house.store.change_run(run.id, run.epoch, state, None).await;
        changed.unwrap();
    }
    let again = answer(send(&house, &path, &body, "s").await, StatusCode::OK).await;
    assert_eq!(again["id"], first["id"]);
}

#[tokio::test]
async fn what_is_said_when_two_pauses_are_lifted_goes_with_one_of_them() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut pauses = Vec::new();
    for _pause in 0..2 {
        pauses.push(paused(&house, &run).await.id);
    }
    let path = format!("/v1/runs/{}/resume", run.id);
    let body = json!({"input": "mind the oven"});
    answer(send(&house, &path, &body, "r").await, StatusCode::ACCEPTED).await;
    let mut said = Vec::new();
    for pause in pauses {
        let pause = house.store.interrupt(pause).await.unwrap().unwrap();
        let decision = pause.decision.unwrap();
        said.extend(
            decision
                .content
                .filter(|words| words.contains("mind the oven")),
        );
    }
    assert_eq!(said.len(), 1, "{said:?}");
    answer(send(&house, &path, &body, "r").await, StatusCode::ACCEPTED).await;
    conflict(send(&house, &path, &json!({}), "r").await).await;
}

/// A pause that waits for a person.
async fn paused(house: &House, run: &Run) -> Interrupt {
    let pause = Admission {
        interrupt_type: InterruptType::Pause,
        ..question(run, "let me look")
    };
    awaiting(&*house.store, pause).await
}

async fn stands(house: &House, pause: &Interrupt) -> State {
    let pause = house.store.interrupt(pause.id).await.unwrap().unwrap();
    pause.state
}

#[tokio::test]
async fn a_resume_that_is_sent_again_lifts_no_pause_that_came_since() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let first = [paused(&house, &run).await, paused(&house, &run).await];
    let path = format!("/v1/runs/{}/resume", run.id);
    answer(
        send(&house, &path, &json!({}), "r").await,
        StatusCode::ACCEPTED,
    )
    .await;
    for pause in &first {
        assert_eq!(stands(&house, pause).await, State::Resolved);
    }
    let later = paused(&house, &run).await;
    let again = send(&house, &path, &json!({}), "r").await;
    answer(again, StatusCode::ACCEPTED).await;
    assert_eq!(stands(&house, &later).await, State::AwaitingReview);
    let other = send(&house, &path, &json!({}), "another").await;
    answer(other, StatusCode::ACCEPTED).await;
    assert_eq!(stands(&house, &later).await, State::Resolved);
}

#[tokio::test]
async fn a_pause_that_has_ended_is_no_reason_to_leave_the_others() {
    let house = House::open().await;
    // From now on the server does not look for a second what is past its time.
    house.read("/v1/runs").await;
    let run = running(&*house.store, None).await;
    let over = Admission {
        interrupt_type: InterruptType::Pause,
        patience: Some(SignedDuration::from_millis(1)),
        ..question(&run, "for a moment")
    };
    let over = awaiting(&*house.store, over).await;
    let holds = paused(&house, &run).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    // Nobody has seen yet that its time is over.
    assert_eq!(stands(&house, &over).await, State::AwaitingReview);
    let path = format!("/v1/runs/{}/resume", run.id);
    let body = json!({"input": "mind the oven"});
    answer(send(&house, &path, &body, "o").await, StatusCode::ACCEPTED).await;
    let lifted = house.store.interrupt(holds.id).await.unwrap().unwrap();
    assert_eq!(lifted.state, State::Resolved);
    let said = lifted.decision.unwrap().content.unwrap();
    assert!(said.contains("mind the oven"), "{said}");
    answer(send(&house, &path, &body, "o").await, StatusCode::ACCEPTED).await;
}

#[tokio::test]
async fn a_pause_is_lifted_however_many_questions_came_before_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    for number in 0..501 {
        let asked = question(&run, &format!("question {number}"));
        awaiting(&*house.store, asked).await;
    }
    let holds = paused(&house, &run).await;
    let path = format!("/v1/runs/{}/resume", run.id);
    let resumed = send(&house, &path, &json!({}), "m").await;
    answer(resumed, StatusCode::ACCEPTED).await;
    assert_eq!(stands(&house, &holds).await, State::Resolved);
}

#[tokio::test]
async fn a_run_that_nothing_holds_goes_on_once_with_one_key() {
    let house = House::open().await;
    for body in [json!({}), json!({"input": "mind the oven"})] {
        let run = running(&*house.store, None).await;
        house.store.release_run(run.id, run.epoch).await.unwrap();
        let path = format!("/v1/runs/{}/resume", run.id);
        let first = answer(send(&house, &path, &body, "n").await, StatusCode::ACCEPTED).await;
        let resumed = async || house.launcher.resumed.lock().await.len();
        let before = resumed().await;
        // Somebody works on it, and has taken note of the request.
        let owned = house.store.own_run(run.id, delivery()).await.unwrap();
        let page = Page {
            after: 0,
            limit: 100,
        };
        for open in house.store.unknown_effects(run.id, page).await.unwrap() {
            let noted = house
                .store
                .finish(owned.epoch, open.intent.effect, "{}".to_owned());
            noted.await.unwrap();
        }
        let again = answer(send(&house, &path, &body, "n").await, StatusCode::ACCEPTED).await;
        assert_eq!(again, first);
        let later = paused(&house, &run).await;
        answer(send(&house, &path, &body, "n").await, StatusCode::ACCEPTED).await;
        assert_eq!(
            stands(&house, &later).await,
            State::AwaitingReview,
            "{body}"
        );
        assert_eq!(resumed().await, before);
        for other in [json!({"input": "mind the dough"}), json!({"checkpoint": 1})] {
            conflict(send(&house, &path, &other, "n").await).await;
        }
    }
    let given = house.launcher.given.lock().await;
    assert_eq!(*given, ["mind the oven"]);
}

#[tokio::test]
async fn a_run_goes_on_once_and_from_one_checkpoint_with_one_key() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let (first, second) = (
        checkpoint(&*house.store, &run).await,
        checkpoint(&*house.store, &run).await,
    );
    let path = format!("/v1/runs/{}/resume", run.id);
    let body = json!({"checkpoint": first, "input": "to the left"});
    let forked = answer(send(&house, &path, &body, "f").await, StatusCode::ACCEPTED).await;
    let again = answer(send(&house, &path, &body, "f").await, StatusCode::ACCEPTED).await;
    assert_eq!(again, forked);
    for other in [
        json!({"checkpoint": second, "input": "to the left"}),
        json!({"checkpoint": first, "input": "to the right"}),
        json!({"checkpoint": first}),
        json!({}),
    ] {
        conflict(send(&house, &path, &other, "f").await).await;
    }
    assert_eq!(runs(&*house.store).await, 2);

    let (run, pause) = held_plan(&*house.store).await;
    let path = format!("/v1/runs/{}/resume", run.id);
    let body = json!({"input": "bake it longer"});
    answer(send(&house, &path, &body, "p").await, StatusCode::ACCEPTED).await;
    answer(send(&house, &path, &body, "p").await, StatusCode::ACCEPTED).await;
    for other in [
        json!({}),
        json!({"input": "bake it less"}),
        json!({"checkpoint": 1}),
    ] {
        conflict(send(&house, &path, &other, "p").await).await;
    }
    let lifted = house.store.interrupt(pause.id).await.unwrap().unwrap();
    assert_eq!(lifted.state, State::Resolved);
    assert_eq!(runs(&*house.store).await, 3);
}

#[tokio::test]
async fn a_request_that_cannot_be_answered_again_takes_no_key() {
    let house = House::open().await;
    let body = json!({"name": "kim", "role": "viewer"});
    let request = house.post("admin", "/v1/tokens", &body);
    let request = request.header("Idempotency-Key", "t").send().await.unwrap();
    let refused = problem(request, StatusCode::BAD_REQUEST).await;
    assert_eq!(refused["parameter"], "Idempotency-Key", "{refused}");
    let tokens = house.store.tokens().await.unwrap();
    assert!(tokens.iter().all(|token| token.name.as_str() != "kim"));
}
