//! An orchestrator of somebody else, one of whose kinds is called as one of ours: what is shown and checked is its own.

use control::AskCatalogueOfInterrupt;
use interrupt_router::NodeId;
use interrupts::catalogue::{Catalogue, SharedCatalogue};
use interrupts::life::{Admission, Interrupt, Role};
use interrupts::store::{Run, Store};
use interrupts::{KindName, RouteName};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::page::Browser;
use crate::rights::record_path;
use crate::scene::{awaiting, node, question, running};

/// A desk whose routes take a matter with a number of pages, and lawyers a paragraph.
fn desk() -> Value {
    let route = |name: &str, field: &str, property: &str| {
        json!({
            "name": name, "field": field, "request": "Matter", "description": "The next desk.",
            "schema": {
                "type": "object", "required": [field], "additionalProperties": false,
                "properties": {(field): {"$ref": "#/$defs/Matter"}},
                "$defs": {"Matter": {"type": "object", "required": [property], "additionalProperties": false,
                    "properties": {(property): {"type": "integer"}}}},
            },
        })
    };
    json!({
        "name": "desk", "record": "DeskRouting",
        "kinds": [
            {"name": "ORCHESTRATOR", "origin": "ORCHESTRATOR", "asks": ["HUMAN_REVIEW"]},
            {"name": "REVIEW_AGENT", "origin": "ORCHESTRATOR"},
        ],
        "routes": [route("ORCHESTRATOR", "orchestrator", "pages"), route("LEGAL", "legal", "paragraph")],
    })
}

fn name(text: &str) -> RouteName {
    RouteName::new(text).unwrap()
}

/// A run of the desk with its first agent, which asks.
async fn asking(store: &dyn Store) -> (Run, Interrupt) {
    let run = running(store, None).await;
    let catalogue: Catalogue = serde_json::from_value(desk()).unwrap();
    let followed = store.follow_catalogue(run.id, run.epoch, SharedCatalogue::new(catalogue), None);
    followed.await.unwrap();
    let row = node(run.id, "desk", "ORCHESTRATOR");
    store.put_nodes(run.id, run.epoch, vec![row]).await.unwrap();
    let asked = Admission {
        node: NodeId::new("desk").unwrap(),
        kind: KindName::new("ORCHESTRATOR").unwrap(),
        origin: name("ORCHESTRATOR"),
        routes: vec![name("ORCHESTRATOR"), name("LEGAL")],
        ..question(&run, "Which desk?")
    };
    let asked = awaiting(store, asked).await;
    (run, asked)
}

#[tokio::test]
async fn the_schema_of_an_answer_is_that_of_the_catalogue_that_its_question_names() {
    let house = House::open().await;
    let (_run, asked) = asking(&*house.store).await;
    let shown = house.read(&format!("/v1/interrupts/{}", asked.id)).await;
    let schema = &shown["response_schema"];
    assert_eq!(
        schema["$defs"],
        desk()["routes"][0]["schema"]["$defs"],
        "not of the record of that name which is built in"
    );
    let routing = house
        .read(&format!("/v1/interrupts/{}/routing-schema", asked.id))
        .await;
    assert_eq!(routing, desk()["routes"][0]["schema"]);
    let kept = house
        .read(&record_path(&AskCatalogueOfInterrupt { id: asked.id }))
        .await;
    assert_eq!(kept, desk());
}

#[tokio::test]
async fn an_edited_request_is_checked_by_its_own_schema() {
    let house = House::open().await;
    let (_run, asked) = asking(&*house.store).await;
    let decide = async |body: Value| {
        let path = format!("/v1/interrupts/{}/decisions", asked.id);
        let request = house.post("supervisor", &path, &body);
        let version = format!("\"{}\"", asked.version);
        request.header("If-Match", version).send().await.unwrap()
    };
    let edit = json!({"decision": "edit", "payload": {"editedRequest": {"pages": "many"}}});
    let refused = problem(decide(edit).await, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(
        refused["errors"][0]["pointer"],
        "/payload/editedRequest/pages"
    );
    let elsewhere = json!({"decision": "reroute", "reroute_to": "LEGAL",
        "payload": {"editedRequest": {"pages": 3}}});
    let refused = problem(decide(elsewhere).await, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "response-schema", "{refused}");
    let fits = json!({"decision": "reroute", "reroute_to": "LEGAL",
        "payload": {"editedRequest": {"paragraph": 3}}});
    decide(fits).await.error_for_status().unwrap();
    let decided = house.store.interrupt(asked.id).await.unwrap().unwrap();
    assert_eq!(decided.decision.unwrap().target, name("LEGAL"));
}

#[tokio::test]
async fn an_event_names_kinds_and_routes_of_the_catalogue() {
    let house = House::open().await;
    let (run, _asked) = asking(&*house.store).await;
    let publish = async |kind: &str, target: &str| {
        let event = json!({
            "eventId": format!("{kind}-{target}"), "timestamp": "2026-02-15T12:00:00Z",
            "nodeId": format!("{}/desk", run.id), "sourceAgentType": kind, "rerouteToAgentType": target,
            "interruptType": "HUMAN_REVIEW", "reason": "lawyers shall look at it",
        });
        house
            .post("supervisor", "/v1/interrupt-requests", &event)
            .send()
            .await
            .unwrap()
    };
    let ours = publish("ORCHESTRATOR", "DISCOVERY_ORCHESTRATOR").await;
    let ours = problem(ours, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(
        ours["errors"][0]["pointer"], "/rerouteToAgentType",
        "{ours}"
    );
    let detail = ours["detail"].as_str().unwrap();
    assert!(
        detail.contains("known are: ORCHESTRATOR, LEGAL"),
        "{detail}"
    );
    let unknown = publish("DISCOVERY_AGENT", "LEGAL").await;
    let unknown = problem(unknown, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(
        unknown["errors"][0]["pointer"], "/sourceAgentType",
        "{unknown}"
    );
    let other = publish("REVIEW_AGENT", "LEGAL").await;
    let other = problem(other, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert!(
        other["detail"]
            .as_str()
            .unwrap()
            .contains("no REVIEW_AGENT"),
        "{other}"
    );
    let accepted = publish("ORCHESTRATOR", "LEGAL").await;
    assert_eq!(accepted.status(), StatusCode::ACCEPTED);
    let accepted: Value = accepted.json().await.unwrap();
    assert_eq!(accepted["target"], "LEGAL");
}

#[tokio::test]
async fn lists_of_kinds_and_routes_are_those_of_catalogues() {
    let house = House::open().await;
    let (run, asked) = asking(&*house.store).await;
    let agents = house
        .read(&format!("/v1/agents?run_id={}&type=ORCHESTRATOR", run.id))
        .await;
    assert_eq!(
        agents["agents"][0]["can_route_to"],
        json!(["ORCHESTRATOR", "LEGAL"])
    );
    let browser = Browser::of(&house, "rae", Role::Supervisor).await;
    let (_status, page) = browser.get("/agents").await;
    assert!(
        page.contains("Its answers may go to 2 types of agents"),
        "{page}"
    );
    assert!(page.contains("Orchestrator, Legal"), "{page}");
    let (_status, review) = browser.get(&format!("/review/{}", asked.id)).await;
    assert!(review.contains("value=\"LEGAL\""), "{review}");
    assert!(!review.contains("DISCOVERY_ORCHESTRATOR"), "{review}");
}
