//! CloudEvents in: three modes, the rights of the requests that they stand for, and each event once.

use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::scene::{DISCOVERY, open_choice, open_question, running};

const STRUCTURED: &str = "application/cloudevents+json";

fn event(id: &str, kind: &str, data: &Value) -> Value {
    json!({
        "specversion": "1.0", "id": id, "source": "/tests", "type": format!("dev.irq.{kind}.v1"),
        "time": "2026-11-22T06:00:00Z", "datacontenttype": "application/json", "data": data,
    })
}

async fn send(house: &House, role: &str, kind: &str, body: &Value) -> Response {
    house
        .client
        .post(house.url("/v1/events"))
        .bearer_auth(&house.tokens[role])
        .header("content-type", kind)
        .body(body.to_string())
        .send()
        .await
        .unwrap()
}

/// What came of the one event of a request that was accepted.
async fn result(response: Response) -> Value {
    let status = response.status();
    let body: Value = response.json().await.unwrap();
    assert_eq!(status, StatusCode::ACCEPTED, "{body}");
    assert_eq!(body["accepted"], 1, "{body}");
    body["results"][0].clone()
}

#[tokio::test]
async fn a_supervisors_event_is_published_once_however_often_it_comes() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let request = json!({
        "eventId": "evt-1", "timestamp": "2026-11-22T06:00:00Z",
        "nodeId": format!("{}/{DISCOVERY}", run.id), "sourceAgentType": "DISCOVERY_ORCHESTRATOR",
        "rerouteToAgentType": "TICKET_ORCHESTRATOR", "interruptType": "HUMAN_REVIEW",
        "reason": "look at this", "choices": [], "confirmationItems": [], "contextForDecision": "",
    });
    let event = event("ce-1", "interrupt.request_event", &request);
    let refused = send(&house, "agent", STRUCTURED, &event).await;
    problem(refused, StatusCode::FORBIDDEN).await;
    let first = result(send(&house, "supervisor", STRUCTURED, &event).await).await;
    let again = result(send(&house, "supervisor", STRUCTURED, &event).await).await;
    assert_eq!(first["interrupt_id"], again["interrupt_id"]);
    assert_eq!(first["state"], "requested");
    let fate = house.read("/v1/interrupt-requests/evt-1").await;
    assert_eq!(fate["interrupt"]["id"], first["interrupt_id"]);
}

#[tokio::test]
async fn commands_are_carried_out_with_the_rights_of_the_requests_that_they_stand_for() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_choice(&*house.store, &run).await;
    let agent = format!("{}/orchestrator", run.id);
    let pause = json!({"agent_id": agent, "reason": "wait", "scope": "run"});
    let pause = event("ce-pause", "command.interrupt", &pause);
    let refused = send(&house, "reviewer", STRUCTURED, &pause).await;
    problem(refused, StatusCode::FORBIDDEN).await;
    let first = result(send(&house, "supervisor", STRUCTURED, &pause).await).await;
    let again = result(send(&house, "supervisor", STRUCTURED, &pause).await).await;
    assert_eq!(first["interrupt_id"], again["interrupt_id"]);
    let decide = json!({"interrupt_id": asked.id.to_string(), "version": asked.version,
        "decision": "respond", "payload": {"selectedChoices": ["narrow"]}});
    let decide = event("ce-decide", "command.decide", &decide);
    for role in ["viewer", "agent"] {
        let refused = send(&house, role, STRUCTURED, &decide).await;
        problem(refused, StatusCode::FORBIDDEN).await;
    }
    let decided = result(send(&house, "reviewer", STRUCTURED, &decide).await).await;
    let again = result(send(&house, "reviewer", STRUCTURED, &decide).await).await;
    assert_eq!(
        (&decided["state"], &again["state"]),
        (&json!("resolved"), &json!("resolved"))
    );
    let other = event("ce-other", "command.decide", &decide["data"]);
    let late = send(&house, "supervisor", STRUCTURED, &other).await;
    assert_eq!(
        problem(late, StatusCode::CONFLICT).await["resolved_by"],
        "reviewer"
    );
    let resume = json!({"run_id": run.id.to_string()});
    let resume = event("ce-resume", "command.resume", &resume);
    let refused = send(&house, "reviewer", STRUCTURED, &resume).await;
    problem(refused, StatusCode::FORBIDDEN).await;
}

#[tokio::test]
async fn an_event_may_come_in_headers_and_comes_alone() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let reroute = json!({"interrupt_id": asked.id.to_string(), "version": asked.version,
        "reroute_to": "TICKET_ORCHESTRATOR"});
    let response = house
        .client
        .post(house.url("/v1/events"))
        .bearer_auth(&house.tokens["reviewer"])
        .header("ce-specversion", "1.0")
        .header("ce-id", "ce%20binary")
        .header("ce-source", "/tests")
        .header("ce-type", "dev.irq.command.reroute.v1")
        .header(
            "ce-traceparent",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        )
        .json(&reroute)
        .send()
        .await
        .unwrap();
    let done = result(response).await;
    assert_eq!(
        (&done["id"], &done["state"]),
        (&json!("ce binary"), &json!("rerouted"))
    );
    let batch = "application/cloudevents-batch+json";
    let refused = send(&house, "reviewer", batch, &json!([])).await;
    problem(refused, StatusCode::UNSUPPORTED_MEDIA_TYPE).await;
}

#[tokio::test]
async fn what_is_no_cloud_event_is_refused_with_the_attribute_that_is_wrong() {
    let house = House::open().await;
    let fine = event("ce", "command.decide", &json!({}));
    for kind in [
        "text/plain",
        "application/json",
        "application/cloudevents+avro",
        "",
    ] {
        let refused = send(&house, "admin", kind, &fine).await;
        problem(refused, StatusCode::UNSUPPORTED_MEDIA_TYPE).await;
    }
    for (name, value) in [
        ("specversion", json!("0.3")),
        ("id", json!("")),
        ("id", json!("x".repeat(201))),
        ("source", json!(7)),
        ("type", json!(null)),
        ("time", json!("yesterday")),
        ("datacontenttype", json!("text/xml")),
        ("data_base64", json!("e30=")),
        ("Big", json!("letters")),
        ("nested", json!({"a": 1})),
    ] {
        let mut event = fine.clone();
        event[name] = value.clone();
        let refused = send(&house, "admin", STRUCTURED, &event).await;
        let refused = problem(refused, StatusCode::UNPROCESSABLE_ENTITY).await;
        assert_eq!(refused["attribute"], name, "{value}: {refused}");
    }
    let unknown = event("ce", "command.destroy", &json!({}));
    let refused = send(&house, "admin", STRUCTURED, &unknown).await;
    let refused = problem(refused, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["types"].as_array().unwrap().len(), 5);
    for body in ["[]", "{", "[[1]]", "nothing"] {
        let refused = house
            .client
            .post(house.url("/v1/events"))
            .bearer_auth(&house.tokens["admin"])
            .header("content-type", STRUCTURED)
            .body(body)
            .send()
            .await
            .unwrap();
        assert!(
            refused.status().is_client_error(),
            "{body}: {}",
            refused.status()
        );
    }
}
