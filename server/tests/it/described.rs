//! The description says what is so: what has to be sent, what is absent, which numbers are integers.

use interrupts::life::{RunState, State, Verdict};
use reqwest::StatusCode;
use serde_json::json;

use crate::house::{House, problem};
use crate::scene::{open_question, running};

#[tokio::test]
async fn a_version_that_has_to_be_named_is_said_to_be_required() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let api = server::openapi();
    let mut required = 0;
    for (path, body) in [
        ("decisions", json!({"decision": "approve"})),
        ("reroute", json!({"reroute_to": "TICKET_ORCHESTRATOR"})),
        ("claim", json!({})),
    ] {
        let method = if path == "claim" { "put" } else { "post" };
        let named = format!("/v1/interrupts/{{interrupt_id}}/{path}");
        let parameters = api["paths"][&named][method]["parameters"].as_array();
        let mut parameters = parameters.unwrap().iter();
        let says = parameters.find(|it| it["name"] == "If-Match").unwrap()["required"] == true;
        let sent = house.client.request(
            method.to_uppercase().parse().unwrap(),
            house.url(&format!("/v1/interrupts/{}/{path}", asked.id)),
        );
        let sent = sent.bearer_auth(&house.tokens["reviewer"]).json(&body);
        let needs = sent.send().await.unwrap().status() == StatusCode::PRECONDITION_REQUIRED;
        assert_eq!(says, needs, "{path}");
        required += usize::from(needs);
    }
    assert_eq!(required, 2);
}

#[tokio::test]
async fn a_plan_that_a_run_does_not_have_is_not_found() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let path = format!("/v1/runs/{}/plan", run.id);
    let absent = house.get("viewer", &path).send().await.unwrap();
    let absent = problem(absent, StatusCode::NOT_FOUND).await;
    assert_eq!(absent["code"], "plan-not-found");
}

#[tokio::test]
async fn a_whole_number_is_written_without_a_fraction() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let path = format!("/v1/agents/{}%2Forchestrator/interrupts", run.id);
    for (deadline, status) in [("1.5", 422), ("5000.0", 422), ("5e3", 422), ("5000", 202)] {
        let body = format!(r#"{{"deadline_ms": {deadline}, "metadata": {{"share": 2.0}}}}"#);
        let request = house.client.post(house.url(&path));
        let request = request.header("content-type", "application/json");
        let request = request.bearer_auth(&house.tokens["supervisor"]).body(body);
        let sent = request.send().await.unwrap();
        assert_eq!(sent.status().as_u16(), status, "{deadline}");
    }
}

#[test]
fn the_description_names_its_server_and_how_to_come_in_and_promises_no_rows() {
    let api = server::openapi();
    assert_eq!(api["servers"][0]["url"], "/");
    let schemes = api["components"]["securitySchemes"].as_object().unwrap();
    let mut used = std::collections::BTreeSet::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        assert!(!path.starts_with("/v1/records"), "{path}");
        for (method, operation) in item.as_object().unwrap() {
            let Some(needs) = operation["security"].as_array() else {
                panic!("{method} {path} does not say how to come in");
            };
            let is_open = operation["x-right"].is_null();
            assert_eq!(needs.is_empty(), is_open, "{method} {path}");
            for scheme in needs.iter().flat_map(|one| one.as_object().unwrap().keys()) {
                assert!(schemes.contains_key(scheme), "{scheme}");
                used.insert(scheme.clone());
            }
        }
    }
    assert_eq!(used.len(), schemes.len(), "{used:?}");
    // What nothing uses is left of what was taken out.
    let text = api.to_string();
    for name in api["components"]["schemas"].as_object().unwrap().keys() {
        let reference = format!("#/components/schemas/{name}\"");
        assert!(text.contains(&reference), "{name} is used by nothing");
    }
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let place = reference.split('"').next().unwrap();
        assert!(api.pointer(place).is_some(), "{place} is not there");
    }
}

#[test]
fn a_text_that_is_one_of_a_few_names_is_described_by_all_of_them() {
    let api = server::openapi();
    let names = |place: &str| {
        let member = api.pointer(&format!("/components/schemas/{place}"));
        let reference = member.unwrap()["$ref"].as_str().unwrap();
        let names = api.pointer(&reference[1..]).unwrap()["enum"].as_array();
        let names = names.unwrap().iter().map(|it| it.as_str().unwrap());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let runs = RunState::ALL.map(|it| it.name().to_owned());
    assert_eq!(names("RunView/properties/status"), runs);
    assert_eq!(names("WorkView/properties/state"), runs);
    let interrupts = State::ALL.map(|it| it.name().to_owned());
    assert_eq!(names("InterruptView/properties/state"), interrupts);
    let decisions = Verdict::ALL.map(|it| it.name().to_owned());
    assert_eq!(names("DecisionView/properties/decision"), decisions);
}
