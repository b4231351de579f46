//! What a server does once: it starts a run for a key, over restarts, too; and one that may not serve does nothing.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::program::{Ended, end, interrupt, irq, workspace};
use crate::serving::{Installation, open};

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

#[tokio::test]
async fn an_order_that_comes_to_two_servers_at_once_is_one_run_whatever_each_makes_of_it() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--requests-per-second", "1000"]);
    // It would keep another order: its runs may go less far.
    let other = ["--requests-per-second", "1000", "--max-steps", "40"];
    let other = installation.serve_beside_with(&other);
    let client = tls::client().build().unwrap();
    let start = async |server: &str, key: &str| {
        let request = client.post(format!("{server}/v1/runs"));
        let request = request.bearer_auth(&installation.token);
        let request = request.header("Idempotency-Key", key);
        let order = json!({"goal": "Describe the bakery"});
        let response = request.json(&order).send().await.unwrap();
        (response.status(), response.json::<Value>().await.unwrap())
    };
    for number in 0..40 {
        let key = format!("both-{number}");
        let both = tokio::join!(start(server.address(), &key), start(other.address(), &key));
        for (status, run) in [&both.0, &both.1] {
            assert!(status.is_success(), "{key}: {run}");
        }
        assert_eq!(both.0.1["run_id"], both.1.1["run_id"]);
    }
    server.kill();
    other.kill();
}

fn refused(installation: &Installation, arguments: &[&str], hint: &str) -> Ended {
    let folder = workspace();
    let mut command = irq();
    command.args(["serve", "--listen", "0.0.0.0:0"]);
    command
        .arg("--workspace")
        .arg(folder.path())
        .args(arguments);
    let ended = end(command.env("IRQ_STORE", installation.store())).exits_with(2);
    assert_eq!(ended.output, "", "{ended:?}");
    let ended = ended.says(hint);
    assert!(!format!("{ended:?}").contains("Serving on"), "{ended:?}");
    ended
}

#[tokio::test]
async fn a_server_that_may_not_be_reached_says_no_address_and_takes_up_no_run() {
    let installation = Installation::new();
    let server = installation.serve();
    let run = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    server.kill();
    let payload = r#"{"selectedChoices":["left"]}"#;
    let mut answer = irq();
    answer.args([
        "review",
        &question,
        "--decision",
        "respond",
        "--payload",
        payload,
    ]);
    end(answer.env("IRQ_STORE", installation.store())).exits_with(0);
    let kept = async || {
        let store = open(&installation.store()).await;
        store.run(run.parse().unwrap()).await.unwrap().unwrap()
    };
    let before = kept().await;
    refused(&installation, &[], "--behind-proxy");
    assert_eq!(kept().await, before);
    // Allowed, it needs somebody who can come in.
    let mut list = irq();
    list.args(["token", "list", "--json"]);
    let tokens = end(list.env("IRQ_STORE", installation.store())).exits_with(0);
    for token in crate::program::lines(&tokens.output) {
        let mut revoke = irq();
        revoke.args(["token", "revoke", token["id"].as_str().unwrap()]);
        end(revoke.env("IRQ_STORE", installation.store())).exits_with(0);
    }
    refused(&installation, &["--behind-proxy"], "irq token create");
    assert_eq!(kept().await, before);
}
