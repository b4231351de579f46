//! Standing rules over REST and on the page: made of what was shown, revoked, told, and never wider than they say.

use interrupts::life::{Decider, Interrupt, State};
use interrupts::store::{Deciders, RaisedQuestion, Run};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::page::Browser;
use crate::scene::{awaiting, delivery, open_question, question, running};

/// A question that an agent has raised and that nobody has seen; whether a rule answers it.
pub(crate) async fn is_answered(house: &House, run: &Run, reason: &str) -> Option<Interrupt> {
    let admission = question(run, reason);
    let raised = RaisedQuestion {
        admission,
        delivery: delivery(),
        deciders: Deciders::rules(),
    };
    let raised = house.store.raise(raised).await.unwrap().into_interrupt();
    Some(raised).filter(|raised| raised.decision.is_some())
}

pub(crate) async fn decide(house: &House, role: &str, asked: &Interrupt, body: &Value) -> Response {
    let path = format!("/v1/interrupts/{}/decisions", asked.id);
    let request = house.post(role, &path, body);
    let request = request.header("If-Match", format!("\"{}\"", asked.version));
    let key = format!("key-{}", asked.id);
    request.header("Idempotency-Key", key).send().await.unwrap()
}

pub(crate) async fn revoke(house: &House, role: &str, rule: &str) -> Response {
    house
        .client
        .delete(house.url(&format!("/v1/rules/{rule}")))
        .bearer_auth(&house.tokens[role])
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_reviewer_remembers_a_decision_and_the_same_question_is_answered_by_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let body = json!({
        "decision": "respond",
        "message": "expand",
        "remember": {"scope": "run", "ttl_s": 600, "max_uses": 2},
    });
    let made = decide(&house, "reviewer", &asked, &body).await;
    assert_eq!(made.status(), StatusCode::CREATED);
    let again = decide(&house, "reviewer", &asked, &body).await;
    assert_eq!(again.status(), StatusCode::OK, "sent twice it is one");
    let listed = house.read("/v1/rules").await;
    let rules = listed["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 1, "{listed}");
    let rule = &rules[0];
    assert_eq!(rule["created_by"], "reviewer");
    assert_eq!(rule["scope"], "run");
    assert_eq!((&rule["uses"], &rule["max_uses"]), (&json!(0), &json!(2)));
    assert_eq!(rule["made_of"]["interrupt_id"], asked.id.to_string());
    let decided = is_answered(&house, &run, &asked.reason).await.unwrap();
    assert_eq!(decided.state, State::Resolved);
    assert!(is_answered(&house, &run, "Something else").await.is_none());
    let shown = house.read(&format!("/v1/interrupts/{}", decided.id)).await;
    assert_eq!(shown["decision"]["rule_id"], rule["rule_id"]);
    assert_eq!(shown["decision"]["by"], "a standing rule of reviewer");
    assert_eq!(shown["decision"]["payload"]["text"], "expand");
    is_answered(&house, &run, &asked.reason).await.unwrap();
    assert!(
        is_answered(&house, &run, &asked.reason).await.is_none(),
        "it is spent"
    );
    let path = format!("/v1/rules/{}", rule["rule_id"].as_str().unwrap());
    let spent = house.read(&path).await;
    assert_eq!(
        (&spent["holds"], &spent["ended_by"]),
        (&json!(false), &json!("uses"))
    );
    let history = house.read("/v1/history?kind=rule").await;
    let events: Vec<_> = history["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["entry"]["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(events, ["created", "used", "used", "expired"]);
}

#[tokio::test]
async fn a_rule_that_reaches_everywhere_is_made_by_a_supervisor_and_bound_to_what_was_shown() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let other = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let shown = house.read(&format!("/v1/interrupts/{}", asked.id)).await;
    let digest = shown["shown_digest"].as_str().unwrap();
    let body = |digest: &str| {
        json!({
            "interrupt_id": asked.id.to_string(), "shown_digest": digest, "decision": "approve",
            "scope": "everywhere", "ttl_s": 60, "max_uses": 5,
        })
    };
    let refused = house
        .post("reviewer", "/v1/rules", &body(digest))
        .send()
        .await
        .unwrap();
    problem(refused, StatusCode::FORBIDDEN).await;
    let remembering = json!({"decision": "approve", "remember": {"scope": "everywhere"}});
    let refused = decide(&house, "reviewer", &asked, &remembering).await;
    problem(refused, StatusCode::FORBIDDEN).await;
    let elsewhere = body(&"0".repeat(64));
    let refused = house
        .post("supervisor", "/v1/rules", &elsewhere)
        .send()
        .await
        .unwrap();
    let refused = problem(refused, StatusCode::PRECONDITION_FAILED).await;
    assert_eq!(refused["code"], "shown-differs");
    let create = || {
        house
            .post("supervisor", "/v1/rules", &body(digest))
            .header("Idempotency-Key", "one")
    };
    let made = create().send().await.unwrap();
    assert_eq!(made.status(), StatusCode::CREATED);
    let made: Value = made.json().await.unwrap();
    let again: Value = create().send().await.unwrap().json().await.unwrap();
    assert_eq!(made["rule_id"], again["rule_id"]);
    let decided = is_answered(&house, &other, &asked.reason).await.unwrap();
    let by = decided.decision.unwrap().by;
    assert!(matches!(by, Decider::Rule { name, .. } if name.as_str() == "supervisor"));
    let still = house.store.interrupt(asked.id).await.unwrap().unwrap();
    assert_eq!(
        still.state,
        State::AwaitingReview,
        "people decide what they see"
    );
    let id = made["rule_id"].as_str().unwrap();
    problem(revoke(&house, "reviewer", id).await, StatusCode::FORBIDDEN).await;
    let revoked: Value = revoke(&house, "admin", id).await.json().await.unwrap();
    assert_eq!(
        (&revoked["holds"], &revoked["revoked_by"]),
        (&json!(false), &json!("admin"))
    );
    assert!(is_answered(&house, &other, &asked.reason).await.is_none());
}

#[tokio::test]
async fn what_a_person_asked_for_is_never_remembered_and_stays_undecided_then() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut admission = question(&run, "show me");
    admission.requested_by.role = interrupts::life::Role::Supervisor;
    let asked = awaiting(&*house.store, admission).await;
    let remembering = json!({"decision": "approve", "remember": {}});
    let refused = decide(&house, "reviewer", &asked, &remembering).await;
    let refused = problem(refused, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "not-rememberable");
    let still = house.store.interrupt(asked.id).await.unwrap().unwrap();
    assert_eq!(still.state, State::AwaitingReview);
    for wrong in [
        json!({"ttl_s": 0}),
        json!({"max_uses": 1_001}),
        json!({"ttl_s": 2_592_001}),
        json!({"for": 1}),
    ] {
        let body = json!({"decision": "approve", "remember": wrong});
        let refused = decide(&house, "reviewer", &asked, &body).await;
        problem(refused, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
}

#[tokio::test]
async fn on_the_page_a_decision_is_remembered_shown_and_revoked() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let alex = Browser::of(&house, "alex", interrupts::life::Role::Reviewer).await;
    let path = format!("/review/{}", asked.id);
    let (_, form) = alex.get(&path).await;
    assert!(
        form.contains("Remember this answer") && !form.contains("every run"),
        "{form}"
    );
    let version = asked.version.to_string();
    let fields = [
        ("decision", "approve"),
        ("version", &version),
        ("remember", "run"),
        ("remember_hours", "2"),
        ("remember_uses", "3"),
    ];
    let done = alex.post(&path, &fields).await;
    assert_eq!(done.status(), StatusCode::SEE_OTHER);
    is_answered(&house, &run, &asked.reason).await.unwrap();
    let (_, settings) = alex.get("/settings").await;
    assert!(
        settings.contains("1 of 3") && settings.contains("Revoke"),
        "{settings}"
    );
    let bob = Browser::of(&house, "bob", interrupts::life::Role::Reviewer).await;
    assert!(!bob.get("/settings").await.1.contains("Revoke"));
    let rule = house.read("/v1/rules").await["rules"][0]["rule_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/rules/{rule}/revoke");
    assert_eq!(bob.post(&path, &[]).await.status(), StatusCode::FORBIDDEN);
    assert_eq!(alex.post(&path, &[]).await.status(), StatusCode::SEE_OTHER);
    assert!(alex.get("/settings").await.1.contains("ended (revoked)"));
    assert!(is_answered(&house, &run, &asked.reason).await.is_none());
}

#[tokio::test]
async fn a_batch_is_one_transaction_where_it_shall_be_and_may_remember() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let one = open_question(&*house.store, &run).await;
    let mut directed = question(&run, "show me");
    directed.requested_by.role = interrupts::life::Role::Supervisor;
    let other = awaiting(&*house.store, directed).await;
    let item = |asked: &Interrupt| {
        json!({"interrupt_id": asked.id.to_string(), "version": asked.version,
            "decision": "approve", "remember": {"scope": "run"}})
    };
    let body = json!({"decisions": [item(&one), item(&other)], "all_or_nothing": true});
    let refused = house
        .post("reviewer", "/v1/interrupts:decide", &body)
        .send()
        .await
        .unwrap();
    let refused = problem(refused, StatusCode::CONFLICT).await;
    assert_eq!(refused["refused"][0]["place"], 1);
    assert_eq!(refused["refused"][0]["problem"]["code"], "not-rememberable");
    for asked in [&one, &other] {
        let now = house.store.interrupt(asked.id).await.unwrap().unwrap();
        assert_eq!(now.state, State::AwaitingReview, "nothing was made");
    }
    assert_eq!(house.read("/v1/rules").await["rules"], json!([]));
    let body = json!({"decisions": [item(&one)], "all_or_nothing": true});
    let request = || {
        house
            .post("reviewer", "/v1/interrupts:decide", &body)
            .header("Idempotency-Key", "batch")
    };
    let done: Value = request().send().await.unwrap().json().await.unwrap();
    assert_eq!(done["decided"], 1, "{done}");
    let again: Value = request().send().await.unwrap().json().await.unwrap();
    assert_eq!(
        again["results"][0]["decision"]["decision_id"],
        done["results"][0]["decision"]["decision_id"]
    );
    assert_eq!(
        house.read("/v1/rules").await["rules"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}
