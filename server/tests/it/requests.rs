//! Supervisors' events over REST, in the exact JSON that is fixed for them.

use interrupt_router::EventId;
use interrupts::life::Evidence;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::scene::{asked, delivery, running};

/// The event of the contract, byte for byte but for its ids.
fn event(id: &str, node: &str) -> String {
    format!(
        r#"{{
  "eventId": "{id}",
  "timestamp": "2026-02-15T12:00:00Z",
  "nodeId": "{node}",
  "sourceAgentType": "ORCHESTRATOR",
  "rerouteToAgentType": "DISCOVERY_ORCHESTRATOR",
  "interruptType": "HUMAN_REVIEW",
  "reason": "Need clarification on discovery scope",
  "choices": [
    {{ "label": "Expand scope", "value": "expand", "description": "Include all modules" }},
    {{ "label": "Keep narrow", "value": "narrow", "description": "Only core modules" }}
  ],
  "confirmationItems": [],
  "contextForDecision": "Discovery found 15 modules but only 3 were specified in the goal."
}}"#
    )
}

async fn publish(house: &House, role: &str, body: String) -> reqwest::Response {
    house
        .client
        .post(house.url("/v1/interrupt-requests"))
        .bearer_auth(&house.tokens[role])
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn an_event_is_accepted_once_and_its_fate_is_told_to_the_end() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let first = publish(&house, "supervisor", event("evt-1", "orchestrator")).await;
    assert_eq!(first.status(), StatusCode::ACCEPTED);
    let first: Value = first.json().await.unwrap();
    assert_eq!(first["state"], "requested");
    assert_eq!(first["reroute"]["state"], "pending");
    assert_eq!(first["target"], "DISCOVERY_ORCHESTRATOR");
    assert_eq!(first["interrupt"]["choices"][0]["value"], "expand");
    let again = publish(&house, "supervisor", event("evt-1", "orchestrator")).await;
    assert_eq!(again.status(), StatusCode::OK);
    let other = event("evt-1", "orchestrator").replace("clarification", "something else");
    let other = publish(&house, "supervisor", other).await;
    let other = problem(other, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(other["code"], "idempotency-conflict");

    // The run's owner takes it, and the agent asks.
    let id = first["interrupt"]["id"].as_str().unwrap().parse().unwrap();
    let delivered = house.store.deliver(id, delivery()).await.unwrap();
    let evidence = Evidence::Request {
        content: asked("which?").to_string(),
        form: None,
    };
    house
        .store
        .acknowledge(id, delivered.epoch, evidence)
        .await
        .unwrap();
    let fate = house.read("/v1/interrupt-requests/evt-1").await;
    assert_eq!(fate["state"], "acknowledged");
    assert_eq!(fate["reroute"]["state"], "bound");
    let shown = interrupts::Digest::of(b"shown");
    let open = house
        .store
        .require_review(id, delivered.epoch, shown)
        .await
        .unwrap();
    house
        .post(
            "reviewer",
            &format!("/v1/interrupts/{id}/decisions"),
            &json!({"decision": "respond", "payload": {"selectedChoices": ["narrow"]}}),
        )
        .header("If-Match", format!("\"{}\"", open.version))
        .send()
        .await
        .unwrap()
        .error_for_status()
        .unwrap();
    let fate = house.read("/v1/interrupt-requests/evt-1").await;
    assert_eq!(fate["state"], "rerouted");
    assert_eq!(fate["reroute"]["state"], "consumed");
    assert_eq!(fate["decision"]["target"], "DISCOVERY_ORCHESTRATOR");
    let row = house
        .store
        .reroute(&EventId::try_from("evt-1".to_owned()).unwrap())
        .await
        .unwrap();
    assert_eq!(row.unwrap().run, run.id);
}

#[tokio::test]
async fn an_event_without_a_target_leads_back_to_the_source() {
    let mut house = House::open().await;
    let run = running(&*house.store, None).await;
    house.bind_agent(run.id).await;
    let address = format!("{}/orchestrator", run.id);
    for (id, body) in [
        (
            "evt-2",
            event("evt-2", &address).replace("\"DISCOVERY_ORCHESTRATOR\"", "null"),
        ),
        (
            "evt-3",
            event("evt-3", &address).replace(
                "  \"rerouteToAgentType\": \"DISCOVERY_ORCHESTRATOR\",\n",
                "",
            ),
        ),
    ] {
        let sent = publish(&house, "agent", body).await;
        assert_eq!(sent.status(), StatusCode::ACCEPTED, "{id}");
        let fate = house.read(&format!("/v1/interrupt-requests/{id}")).await;
        assert_eq!(fate["target"], "ORCHESTRATOR", "{id}");
    }
}

#[tokio::test]
async fn an_event_that_is_not_in_the_fixed_form_is_refused_with_the_place() {
    let house = House::open().await;
    running(&*house.store, None).await;
    let good = event("evt-4", "orchestrator");
    let cases = [
        (good.replace("\"eventId\"", "\"event_id\""), 422),
        (good.replace("\"HUMAN_REVIEW\"", "\"HUMAN\""), 422),
        (good.replace("\"ORCHESTRATOR\"", "\"DISCOVERY_AGENT\""), 422),
        (good.replace("2026-02-15T12:00:00Z", "yesterday"), 422),
        (
            good.replace("\"reason\":", "\"reason\": \"other\", \"reason\":"),
            400,
        ),
        (
            good.replace("\"confirmationItems\": []", "\"confirmationItems\": {}"),
            422,
        ),
        (good.replace('}', ""), 400),
        ("[]".to_owned(), 422),
        (good.replace("orchestrator\"", "nobody\""), 404),
    ];
    for (body, status) in cases {
        let response = publish(&house, "supervisor", body.clone()).await;
        let status = StatusCode::from_u16(status).unwrap();
        assert_eq!(response.status(), status, "{body}");
        problem(response, status).await;
    }
    let none = house
        .get("viewer", "/v1/interrupt-requests/evt-4")
        .send()
        .await
        .unwrap();
    problem(none, StatusCode::NOT_FOUND).await;
}

#[tokio::test]
async fn an_event_stops_nothing_before_the_agent_has_said_so_itself() {
    let house = House::open().await;
    running(&*house.store, None).await;
    let body = event("evt-5", "orchestrator").replace("\"HUMAN_REVIEW\"", "\"STOP\"");
    let sent = publish(&house, "supervisor", body).await;
    assert_eq!(sent.status(), StatusCode::ACCEPTED);
    let fate: Value = sent.json().await.unwrap();
    assert_eq!(fate["interrupt"]["type"], "HUMAN_REVIEW");
}
