//! What callers read of interrupts: one of them, and the inbox.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::scene::{asked, awaiting, open_choice, open_question, question, running};

#[tokio::test]
async fn a_question_is_read_with_everything_that_one_needs_to_answer_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_choice(&*house.store, &run).await;
    let response = house
        .get("viewer", &format!("/v1/interrupts/{}", asked.id))
        .send()
        .await
        .unwrap();
    assert_eq!(
        response.headers()["etag"],
        format!("\"{}\"", asked.version).as_str()
    );
    let shown: Value = response.json().await.unwrap();
    assert_eq!(shown["state"], "awaiting_review");
    assert_eq!(shown["reason"], "Need clarification on discovery scope");
    assert_eq!(shown["choices"][1]["value"], "narrow");
    assert_eq!(shown["confirmation_items"][0]["id"], "cost");
    assert_eq!(shown["fields"], json!({"phase": "discovery"}));
    assert_eq!(
        shown["agent_id"],
        format!("{}/orchestrator/discovery", run.id)
    );
    let allowed: Vec<&Value> = shown["routes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|route| route["allowed"] == true)
        .map(|route| &route["agent_type"])
        .collect();
    assert_eq!(allowed, ["DISCOVERY_ORCHESTRATOR"]);
    let schema = &shown["response_schema"];
    assert_eq!(
        schema["properties"]["selectedChoices"]["items"]["enum"],
        json!(["expand", "narrow"])
    );
    let request = schema["properties"]["editedRequest"]["$ref"]
        .as_str()
        .unwrap();
    let request = schema.pointer(request.strip_prefix('#').unwrap()).unwrap();
    assert_eq!(request["required"], json!(["goal"]), "{schema}");
}

#[tokio::test]
async fn an_inbox_is_read_in_parts_and_filtered() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let other = running(&*house.store, None).await;
    let mut ids = Vec::new();
    for number in 0..5 {
        let run = if number == 4 { &other } else { &run };
        ids.push(open_question(&*house.store, run).await.id.to_string());
    }
    let (mut path, mut seen) = ("/v1/interrupts?status=open&limit=2".to_owned(), Vec::new());
    loop {
        let response = house.get("viewer", &path).send().await.unwrap();
        let link = response
            .headers()
            .get("link")
            .map(|link| link.to_str().unwrap().to_owned());
        let part: Value = response.json().await.unwrap();
        for interrupt in part["interrupts"].as_array().unwrap() {
            seen.push(interrupt["id"].as_str().unwrap().to_owned());
        }
        let Some(link) = link else { break };
        path = link.split(['<', '>']).nth(1).unwrap().to_owned();
    }
    assert_eq!(seen, ids);
    let of_run = house
        .read(&format!("/v1/interrupts?run_id={}", other.id))
        .await;
    assert_eq!(of_run["interrupts"][0]["id"], ids[4].as_str());
    let wrong = house
        .get("viewer", "/v1/interrupts?status=odd")
        .send()
        .await
        .unwrap();
    problem(wrong, StatusCode::BAD_REQUEST).await;
}

#[tokio::test]
async fn the_words_of_models_come_as_they_are_in_json() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let nasty = "<script>alert(1)</script>\u{202e}\u{0}";
    let mut admission = question(&run, nasty);
    admission.content = asked(nasty).to_string();
    let asked = awaiting(&*house.store, admission).await;
    let shown = house.read(&format!("/v1/interrupts/{}", asked.id)).await;
    assert_eq!(shown["reason"], nasty);
}
