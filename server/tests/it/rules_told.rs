//! What the live feed tells of standing rules: made, used, revoked, spent, and which decisions are theirs. Over both
//! transports it is the same.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::feed::Events;
use crate::house::House;
use crate::rules::{decide, is_answered, revoke};
use crate::scene::{open_question, running};
use crate::socket::Socket;

/// The events of a stream, up to so many.
pub(crate) async fn told_over_events(house: &House, query: &str, count: usize) -> Vec<Value> {
    let request = house.get("viewer", &format!("/v1/events?after_seq=0&{query}"));
    let mut events = Events::of(request.send().await.unwrap());
    let mut told = Vec::new();
    while told.len() < count {
        told.push(events.next().await.unwrap().data);
    }
    told
}

/// The events of a socket, up to so many.
pub(crate) async fn told_over_socket(house: &House, topics: &[&str], count: usize) -> Vec<Value> {
    let mut socket = Socket::open(house, "viewer").await;
    let subscribe = json!({"type": "subscribe", "payload": {"topics": topics, "after_seq": 0}});
    socket.send(&subscribe.to_string()).await;
    let mut told = Vec::new();
    while told.len() < count {
        told.push(socket.receive_a("event").await["payload"]["event"].clone());
    }
    told
}

pub(crate) fn names(told: &[Value]) -> Vec<&str> {
    told.iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_rule_is_told_when_it_is_made_used_and_revoked() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let body = json!({
        "decision": "respond", "message": "expand",
        "remember": {"scope": "run", "ttl_s": 600, "max_uses": 5},
    });
    assert_eq!(
        decide(&house, "reviewer", &asked, &body).await.status(),
        StatusCode::CREATED
    );
    let rule = house.read("/v1/rules").await["rules"][0]["rule_id"].clone();
    let answered = is_answered(&house, &run, &asked.reason).await.unwrap();
    let revoked = revoke(&house, "reviewer", rule.as_str().unwrap()).await;
    assert_eq!(revoked.status(), StatusCode::OK);
    let told = told_over_events(&house, "topics=rule.*", 3).await;
    assert_eq!(
        names(&told),
        [
            "dev.irq.rule.created.v1",
            "dev.irq.rule.used.v1",
            "dev.irq.rule.expired.v1"
        ]
    );
    for event in &told {
        assert_eq!(event["data"]["rule_id"], rule, "{event}");
        assert_eq!(event["data"]["run_id"], json!(run.id), "{event}");
        assert_eq!(event["source"], format!("/irq/local/runs/{}", run.id));
    }
    assert_eq!(told[0]["data"]["interrupt_id"], json!(asked.id));
    assert_eq!(told[1]["data"]["interrupt_id"], json!(answered.id));
    assert_eq!(told[2]["data"]["why"], "revoked");
    assert_eq!(told_over_socket(&house, &["rule.*"], 3).await, told);
    // Whoever reads one run alone is told of its rules, and of another one nothing.
    let own = format!("run_id={}&topics=rule.*", run.id);
    assert_eq!(told_over_events(&house, &own, 3).await, told);
}

#[tokio::test]
async fn a_decision_says_in_the_feed_whether_a_person_or_a_rule_made_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    // The feed has told of the question before it is decided, and remembers it as it was.
    told_over_events(&house, "topics=interrupt.opened", 1).await;
    let body = json!({
        "decision": "approve", "remember": {"scope": "run", "ttl_s": 600, "max_uses": 1},
    });
    assert_eq!(
        decide(&house, "reviewer", &asked, &body).await.status(),
        StatusCode::CREATED
    );
    let rule = house.read("/v1/rules").await["rules"][0]["rule_id"].clone();
    is_answered(&house, &run, &asked.reason).await.unwrap();
    let told = told_over_events(&house, "topics=interrupt.resolved", 2).await;
    let by_person = &told[0]["data"];
    assert_eq!(by_person["decision"], "approve");
    assert_eq!(by_person["decided_by"], "reviewer");
    assert_eq!(by_person.get("rule_id"), None);
    let by_rule = &told[1]["data"];
    assert_eq!(by_rule["decided_by"], "a standing rule of reviewer");
    assert_eq!(by_rule["rule_id"], rule);
    assert_eq!(
        told_over_socket(&house, &["interrupt.resolved"], 2).await,
        told
    );
    // Its one use ended it.
    let ended = told_over_events(&house, "topics=rule.expired", 1).await;
    assert_eq!(ended[0]["data"]["why"], "uses");
}
