//! What a server does once: it starts a run for a key, over restarts, too.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::program::interrupt;
use crate::serving::Installation;

#[tokio::test]
async fn a_run_is_started_once_for_a_key_whatever_the_next_server_starts_with() {
    let installation = Installation::new();
    let server = installation.serve();
    let script = json!({"version": 1, "steps": [interrupt("HUMAN_REVIEW")]});
    let order = json!({"goal": "Describe the bakery", "options": {"script": script}});
    let start = async |order: &Value| {
        let request = installation.post("/v1/runs", order);
        let sent = request.header("Idempotency-Key", "once-1").send().await;
        let response = sent.unwrap();
        (response.status(), response.json::<Value>().await.unwrap())
    };
    let (status, first) = start(&order).await;
    assert_eq!(status, StatusCode::CREATED, "{first}");
    let (status, again) = start(&order).await;
    assert_eq!(status, StatusCode::OK, "{again}");
    assert_eq!(again["run_id"], first["run_id"]);
    let question = installation.questions(1).await.remove(0);
    server.kill();

    let server = installation.serve_with(&["--max-steps", "40"]);
    let (status, again) = start(&order).await;
    assert_eq!(status, StatusCode::OK, "{again}");
    assert_eq!(again["run_id"], first["run_id"]);
    installation.decide(&question).await.unwrap();
    let run = first["run_id"].as_str().unwrap();
    assert_eq!(installation.ends(run).await, "completed");
    let (status, ended) = start(&order).await;
    assert_eq!(
        (status, &ended["status"]),
        (StatusCode::OK, &json!("completed"))
    );
    let (status, refused) = start(&json!({"goal": "Describe the mill"})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused["code"], "idempotency-conflict");
    let runs = installation.json("/v1/runs").await;
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");

    // A fork has its key, too, with what it was asked for.
    let fork = async |input: &str| {
        let path = format!("/v1/runs/{run}/resume");
        let body = json!({"checkpoint": 1, "input": input});
        let request = installation.post(&path, &body);
        let sent = request.header("Idempotency-Key", "fork-1").send().await;
        let response = sent.unwrap();
        (response.status(), response.json::<Value>().await.unwrap())
    };
    let (status, forked) = fork("to the left").await;
    assert_eq!(status, StatusCode::ACCEPTED, "{forked}");
    assert_eq!(fork("to the left").await, (StatusCode::ACCEPTED, forked));
    let (status, refused) = fork("to the right").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");
    server.kill();
}
