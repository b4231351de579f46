//! The wire form of the event by which a supervisor asks for an interrupt.

use agents::{AgentKind, RouteType};
use interrupt_router::InterruptType;
use interrupt_router::event::InterruptRequestEvent;
use serde_json::{Value, json};

type Event = InterruptRequestEvent<AgentKind>;

const SAMPLE: &str = r#"{
    "eventId": "0b7f4f0e-5e5a-4c55-9d1c-0f4a6f1f2a3b",
    "timestamp": "2026-02-15T12:00:00Z",
    "nodeId": "root/discovery-1",
    "sourceAgentType": "ORCHESTRATOR",
    "rerouteToAgentType": "DISCOVERY_ORCHESTRATOR",
    "interruptType": "HUMAN_REVIEW",
    "reason": "How far shall discovery reach?",
    "choices": [
        { "label": "Wide", "value": "wide", "description": "All of the modules" },
        { "label": "Narrow", "value": "narrow", "description": "The core alone" }
    ],
    "confirmationItems": [],
    "contextForDecision": "Twelve modules were found, two are in the goal."
}"#;

#[test]
fn the_sample_comes_out_as_it_went_in() {
    let event = Event::from_json(SAMPLE.as_bytes()).unwrap();
    assert_eq!(event.source_agent_type, AgentKind::Orchestrator);
    assert_eq!(event.interrupt_type, InterruptType::HumanReview);
    assert_eq!(event.target(), RouteType::DiscoveryOrchestrator);
    assert_eq!(
        serde_json::to_string(&event).unwrap(),
        sample().to_string(),
        "the same names, in the same order"
    );
}

#[test]
fn without_a_reroute_the_target_is_the_source() {
    for missing in [
        with("rerouteToAgentType", Value::Null),
        without("rerouteToAgentType"),
    ] {
        let event = Event::from_json(missing.to_string().as_bytes()).unwrap();
        assert_eq!(event.target(), RouteType::Orchestrator);
    }
    let worker = with("sourceAgentType", json!("TICKET_AGENT"));
    let mut worker = worker.as_object().unwrap().clone();
    worker.shift_remove("rerouteToAgentType");
    let event = Event::from_json(Value::Object(worker).to_string().as_bytes()).unwrap();
    assert_eq!(event.target(), RouteType::TicketDispatch);
}

#[test]
fn what_is_wrong_is_named_with_its_field() {
    let wrong = [
        (
            with("sourceAgentType", json!("OVERSEER")),
            "$.sourceAgentType",
            "OVERSEER",
        ),
        // A worker is no route.
        (
            with("rerouteToAgentType", json!("TICKET_AGENT")),
            "$.rerouteToAgentType",
            "TICKET_AGENT",
        ),
        (
            with("interruptType", json!("HALT")),
            "$.interruptType",
            "HALT",
        ),
        (with("timestamp", json!("yesterday")), "$.timestamp", "year"),
        (
            with("timestamp", json!("2026-02-30T12:00:00Z")),
            "$.timestamp",
            "day",
        ),
        (
            with("timestamp", json!(1_771_156_800)),
            "$.timestamp",
            "integer",
        ),
        (
            with("nodeId", json!("no/such node")),
            "$.nodeId",
            "no/such node",
        ),
        (
            with("choices", json!([{ "label": "Wide" }])),
            "$.choices[0].value",
            "value",
        ),
        (with("colour", json!("red")), "$.colour", "colour"),
        (without("reason"), "$.reason", "missing"),
        (without("timestamp"), "$.timestamp", "missing"),
    ];
    for (event, path, named) in wrong {
        let error = Event::from_json(event.to_string().as_bytes()).unwrap_err();
        assert_eq!(error.path(), path, "{error}");
        assert!(error.reason().contains(named), "{error}");
    }
}

fn sample() -> Value {
    serde_json::from_str(SAMPLE).unwrap()
}

fn with(field: &str, value: Value) -> Value {
    let mut event = sample();
    event[field] = value;
    event
}

fn without(field: &str) -> Value {
    let mut event = sample();
    event.as_object_mut().unwrap().shift_remove(field);
    event
}
