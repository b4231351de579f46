//! Lists of questions: each with everything that one needs to answer it.

use interrupts::life::{Admission, Interrupt};
use interrupts::store::Run;
use interrupts::{KindName, RouteName};
use reqwest::StatusCode;

use crate::house::{House, problem};
use crate::scene::{awaiting, question, running};

/// A question of a kind of agent whose answer goes back to where it came from.
async fn question_of(house: &House, run: &Run, kind: &str) -> Interrupt {
    let admission = Admission {
        kind: KindName::new(kind).unwrap(),
        origin: RouteName::new(kind).unwrap(),
        routes: vec![RouteName::new(kind).unwrap()],
        ..question(run, "Where to?")
    };
    awaiting(&*house.store, admission).await
}

#[tokio::test]
async fn each_question_of_a_list_describes_the_request_of_its_own_route() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let kinds = ["DISCOVERY_ORCHESTRATOR", "TICKET_ORCHESTRATOR"];
    for kind in kinds.iter().chain(&kinds) {
        question_of(&house, &run, kind).await;
    }
    let listed = house.read("/v1/interrupts?status=open").await;
    let questions = listed["interrupts"].as_array().unwrap();
    assert_eq!(questions.len(), 4);
    for question in questions {
        let id = question["id"].as_str().unwrap();
        let routing = house
            .read(&format!("/v1/interrupts/{id}/routing-schema"))
            .await;
        let (_field, request) = routing["properties"]
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap();
        let schema = &question["response_schema"];
        assert_eq!(&schema["properties"]["editedRequest"], request, "{id}");
        assert_eq!(schema["$defs"], routing["$defs"], "{id}");
        assert_eq!(schema["additionalProperties"], false);
        let alone = house.read(&format!("/v1/interrupts/{id}")).await;
        assert_eq!(&alone["response_schema"], schema);
    }
    let request =
        |place: usize| &questions[place]["response_schema"]["properties"]["editedRequest"];
    assert_ne!(request(0), request(1), "each has its own");
    assert_eq!(request(0), request(2));
}

#[tokio::test]
async fn what_is_wrong_in_a_query_for_records_is_refused_whatever_else_it_names() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    for query in [
        "interrupts".to_owned(),
        "interrupts?of=[{%22states%22:[%22done%22]},{%22after%22:0,%22limit%22:1}]".to_owned(),
        "interrupts?of=[{%22state%22:[]},{%22after%22:0,%22limit%22:1}]".to_owned(),
        "runs?of=[[],{%22after%22:0,%22limit%22:501}]".to_owned(),
        "nothing?of=[]".to_owned(),
        format!("agent?of=[%22{}%22,%22no%20node%22]", run.id),
    ] {
        let path = format!("/v1/records/{query}");
        let refused = house.get("viewer", &path).send().await.unwrap();
        let told = problem(refused, StatusCode::BAD_REQUEST).await;
        assert_eq!(told["code"], "invalid-parameter", "{query}");
    }
}
