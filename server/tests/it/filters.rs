//! What a list or a stream is asked for and nothing can have is refused, with what would do: nothing found would look as if
//! there were nothing.

use interrupts::life::Role;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::page::Browser;
use crate::scene::{open_question, running};
use crate::socket::Socket;

#[tokio::test]
async fn a_filter_that_nothing_can_fit_is_refused_with_what_would_do() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    open_question(&*house.store, &run).await;
    for (path, parameter, given, remedy) in [
        ("/v1/interrupts", "kind", "humanreview", "human_review"),
        ("/v1/interrupts", "source", "person", "user"),
        ("/v1/agents", "status", "busy", "running"),
        ("/v1/history", "kind", "decisions", "interrupt"),
        ("/v1/events", "topics", "interrupts.*", "/asyncapi.json"),
        (
            "/v1/events",
            "topics",
            "run.*,dev.irq.run.completed.v1",
            "dev.irq.",
        ),
    ] {
        let asked = format!("{path}?{parameter}={given}");
        let refused = house.get("viewer", &asked).send().await.unwrap();
        let refused = problem(refused, StatusCode::BAD_REQUEST).await;
        assert_eq!(refused["parameter"], parameter, "{asked}: {refused}");
        let told = format!("{} {}", refused["detail"], refused["hint"]);
        assert!(told.contains(remedy), "{asked}: {told}");
    }
    let mut socket = Socket::open(&house, "viewer").await;
    let subscribe =
        json!({"type": "subscribe", "id": "1", "payload": {"topics": ["interrupts.*"]}});
    socket.send(&subscribe.to_string()).await;
    let refused = socket.text().await.unwrap();
    assert!(refused.contains("fits no event"), "{refused}");
}

#[tokio::test]
async fn what_the_description_names_for_a_filter_is_taken() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    open_question(&*house.store, &run).await;
    let description = house.read("/openapi.json").await;
    let mut tried = 0;
    for path in ["/v1/interrupts", "/v1/runs", "/v1/agents", "/v1/history"] {
        let parameters = description["paths"][path]["get"]["parameters"].clone();
        for parameter in parameters.as_array().unwrap() {
            let mut schema = &parameter["schema"];
            if let Some(reference) = schema["$ref"].as_str() {
                schema = description.pointer(&reference[1..]).unwrap();
            }
            let names = schema["enum"].as_array();
            for name in names.into_iter().flatten().filter_map(Value::as_str) {
                let asked = format!("{path}?{}={name}", parameter["name"].as_str().unwrap());
                let answered = house.get("viewer", &asked).send().await.unwrap();
                assert_eq!(answered.status(), StatusCode::OK, "{asked}");
                tried += 1;
            }
            assert_ne!(parameter["required"], true, "{parameter}");
        }
    }
    // The kinds of agents are those of catalogues, which the description cannot list.
    for catalogue in agents::catalogue::built_in() {
        for kind in catalogue.kinds() {
            let asked = format!("/v1/agents?type={}", kind.name);
            let answered = house.get("viewer", &asked).send().await.unwrap();
            assert_eq!(answered.status(), StatusCode::OK, "{asked}");
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
}

#[tokio::test]
async fn the_history_of_a_run_is_found_by_its_clients_name_too() {
    let house = House::open().await;
    let run = running(&*house.store, Some("thread-123")).await;
    open_question(&*house.store, &run).await;
    let by_id = house.read(&format!("/v1/history?run_id={}", run.id)).await;
    assert!(by_id["rows"].as_array().unwrap().len() > 2, "{by_id}");
    assert_eq!(house.read("/v1/history?run_id=thread-123").await, by_id);
    let unknown = house.get("viewer", "/v1/history?run_id=thread-124");
    let refused = problem(unknown.send().await.unwrap(), StatusCode::NOT_FOUND).await;
    assert_eq!(refused["code"], "run-not-found", "{refused}");
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let (status, page) = browser.get("/history?run_id=thread-124").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(page.contains("there is no run `thread-124`"), "{page}");
    // What was forgotten is not there any more, and is told as before.
    let forgotten = format!("/v1/history?run_id={}", interrupt_router::RunId::generate());
    assert_eq!(house.read(&forgotten).await["rows"], json!([]));
}

#[tokio::test]
async fn what_is_wrong_in_a_query_is_told_by_the_name_of_its_parameter() {
    let house = House::open().await;
    for (asked, parameter) in [
        ("/v1/interrupts?limit=ten", "limit"),
        ("/v1/interrupts?sort=age", "sort"),
        ("/v1/interrupts?priority=user", "priority"),
        ("/v1/events?named=yes", "named"),
    ] {
        let refused = house.get("viewer", asked).send().await.unwrap();
        let refused = problem(refused, StatusCode::BAD_REQUEST).await;
        assert_eq!(refused["parameter"], parameter, "{asked}: {refused}");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.starts_with(parameter), "{asked}: {detail}");
    }
}
