//! What holds for the runs that a server executes: rules, policies, limits, prices; and what a killed one leaves.

use std::path::Path;

use interrupts::life::State;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tests::auditor::{Evidence, audit};

use crate::program::{end, irq, lines};
use crate::server::nobody;
use crate::serving::{Installation, open};

/// The system's own stop of a run, once the run stands paused by it.
async fn stop_of(installation: &Installation, run: &str) -> Value {
    let path = format!("/v1/interrupts?status=open&run_id={run}");
    installation
        .until(&path, |page| {
            let open = page["interrupts"].as_array().unwrap();
            open.iter()
                .find(|it| it["source"] == "system" && it["state"] == "awaiting_review")
                .cloned()
        })
        .await
}

/// Starts a run that asks nothing.
async fn start_quiet(installation: &Installation, options: Value) -> String {
    let order = json!({"goal": "Describe the bakery", "options": options});
    let started = installation.post("/v1/runs", &order).send().await.unwrap();
    assert_eq!(started.status(), StatusCode::CREATED);
    let run: Value = started.json().await.unwrap();
    run["run_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_remembered_answer_lets_the_next_run_pass_without_anybody() {
    let installation = Installation::new();
    let server = installation.serve();
    let first = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    let shown = installation.get(&format!("/v1/interrupts/{question}"));
    let version = shown.send().await.unwrap().headers()["etag"].clone();
    let decision = json!({
        "decision": "respond",
        "payload": {"selectedChoices": ["left"]},
        "remember": {"scope": "everywhere", "ttl_s": 600, "max_uses": 1},
    });
    let decided = installation
        .post(&format!("/v1/interrupts/{question}/decisions"), &decision)
        .header("if-match", version)
        .send()
        .await
        .unwrap();
    assert_eq!(decided.status(), StatusCode::CREATED);
    assert_eq!(installation.ends(&first).await, "completed");

    let second = installation.start_asking().await;
    assert_eq!(installation.ends(&second).await, "completed");
    let path = format!("/v1/interrupts?run_id={second}");
    let asked = installation.json(&path).await;
    let decision = &asked["interrupts"][0]["decision"];
    assert_eq!(decision["by"], "a standing rule of script", "{asked:#}");
    assert_eq!(decision["payload"]["selectedChoices"], json!(["left"]));

    // It was good for one use: the third run asks again.
    let third = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    installation.decide(&question).await.unwrap();
    assert_eq!(installation.ends(&third).await, "completed");
    server.kill();
    let told = end(irq()
        .args(["history", "--json"])
        .env("IRQ_STORE", installation.store()))
    .exits_with(0);
    let events: Vec<_> = lines(&told.output)
        .into_iter()
        .filter(|row| row["about"] == "rule")
        .map(|row| row["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(events, ["created", "used", "expired"]);
}

#[tokio::test]
async fn a_policy_of_the_server_answers_what_its_runs_ask() {
    let installation = Installation::new();
    let policy = installation.folder.path().join("policy.toml");
    let rule = "[[rule]]\nname = \"go left\"\ntype = \"HUMAN_REVIEW\"\n\
                answer = \"respond\"\nanswer_choices = [\"left\"]\n";
    std::fs::write(&policy, rule).unwrap();
    let server = installation.serve_with(&["--policy", policy.to_str().unwrap()]);
    let run = installation.start_asking().await;
    assert_eq!(installation.ends(&run).await, "completed");
    let asked = installation
        .json(&format!("/v1/interrupts?run_id={run}"))
        .await;
    assert_eq!(asked["interrupts"][0]["decision"]["by"], "a policy");
    server.kill();
}

#[tokio::test]
async fn steps_time_and_money_of_the_server_hold_and_a_run_may_only_have_less() {
    let installation = Installation::new();
    let prices = installation.folder.path().join("prices.toml");
    let table = "currency = \"USD\"\n\n[prices.rehearsal]\ninput = 1.0\noutput = 2.0\n";
    std::fs::write(&prices, table).unwrap();
    let prices = prices.to_str().unwrap();
    let limits = ["--prices", prices, "--budget-usd", "5", "--max-steps", "3"];
    let server = installation.serve_with(&limits);
    let by_steps = start_quiet(&installation, json!({"max_steps": 200})).await;
    let stop = stop_of(&installation, &by_steps).await;
    assert!(
        stop["reason"].as_str().unwrap().contains("3 steps"),
        "{stop:#}"
    );
    let by_money = start_quiet(&installation, json!({"budget_usd": "0.02"})).await;
    let stop = stop_of(&installation, &by_money).await;
    assert_eq!(stop["kind"], "budget", "{stop:#}");
    for (options, field) in [
        (json!({"budget_usd": "much"}), "budget_usd"),
        (json!({"timeout_s": 0}), "timeout_s"),
        (json!({"max_steps": 0}), "max_steps"),
        (json!({"workflow": "other"}), "workflow"),
    ] {
        let order = json!({"goal": "x", "options": options});
        let refused = installation.post("/v1/runs", &order).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let told = refused.text().await.unwrap();
        assert!(told.contains(field), "{field}: {told}");
    }
    server.kill();

    // The next server allows more, and the run keeps its own budget all the same.
    let server = installation.serve_with(&["--prices", prices]);
    let resume = json!({});
    let resumed = installation
        .post(&format!("/v1/runs/{by_money}/resume"), &resume)
        .send()
        .await
        .unwrap();
    assert_eq!(resumed.status(), StatusCode::ACCEPTED);
    let again = stop_of(&installation, &by_money).await;
    assert_eq!(again["kind"], "budget", "{again:#}");
    server.kill();
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_paused_by_its_own_time() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--pace", "20", "--timeout", "1h"]);
    let run = start_quiet(&installation, json!({"timeout_s": 1})).await;
    let stop = stop_of(&installation, &run).await;
    assert_eq!(stop["kind"], "timeout", "{stop:#}");
    server.kill();
}

#[tokio::test]
async fn a_model_that_fails_pauses_the_run_of_a_server_as_it_pauses_one_in_the_foreground() {
    let installation = Installation::new();
    let url = format!("http://{}/v1", nobody());
    let server = installation.serve_with(&["--model", "openai:m", "--base-url", &url]);
    let run = start_quiet(&installation, json!({})).await;
    let stop = stop_of(&installation, &run).await;
    assert_eq!(
        (&stop["type"], &stop["kind"]),
        (&json!("PAUSE"), &json!("system_error")),
        "{stop:#}"
    );
    let shown = end(irq()
        .args(["review", stop["id"].as_str().unwrap(), "--json"])
        .env("IRQ_STORE", installation.store()))
    .exits_with(0);
    let known = &lines(&shown.output)[0]["content"]["metadata"];
    assert_eq!(known["node"], "orchestrator", "{known:#}");
    assert!(known["causes"].as_array().unwrap().len() > 1, "{known:#}");
    server.kill();
}

#[tokio::test]
async fn a_plan_is_made_and_carried_out_by_a_server_too() {
    let installation = Installation::new();
    let server = installation.serve();
    let options = json!({"workflow": "plan-execute"});
    let run = start_quiet(&installation, options).await;
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn killed_during_a_batch_that_is_one_transaction_it_has_decided_all_or_nothing() {
    const RUNS: usize = 5;
    let installation = Installation::new();
    let server = installation.serve();
    let mut runs = Vec::new();
    for _run in 0..RUNS {
        runs.push(installation.start_asking().await);
    }
    let questions = installation.questions(RUNS).await;
    let mut decisions = Vec::new();
    for question in &questions {
        let shown = installation
            .json(&format!("/v1/interrupts/{question}"))
            .await;
        decisions.push(json!({
            "interrupt_id": question, "version": shown["version"], "decision": "respond",
            "payload": {"selectedChoices": ["left"]},
        }));
    }
    let body = json!({"decisions": decisions, "all_or_nothing": true});
    let send = || {
        installation
            .post("/v1/interrupts:decide", &body)
            .header("idempotency-key", "batch")
            .send()
    };
    let killed = async { server.kill() };
    let (answer, ()) = tokio::join!(send(), killed);
    let acknowledged = answer.is_ok_and(|answer| answer.status().is_success());
    let decided = decided_of(&installation.store(), &questions).await;
    assert!(
        decided == 0 || decided == RUNS,
        "{decided} of {RUNS} decided"
    );
    assert!(
        decided == RUNS || !acknowledged,
        "what was acknowledged is lost"
    );

    let server = installation.serve();
    let again = send().await.unwrap();
    assert!(again.status().is_success(), "{again:?}");
    for run in &runs {
        assert_eq!(installation.ends(run).await, "completed", "{run}");
    }
    server.kill();
    let store = open(&installation.store()).await;
    let evidence = Evidence {
        store: &*store,
        attempts: &[],
        calls: &[],
    };
    let report = audit(&evidence).await.unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    assert_eq!(report.decisions, RUNS);
}

async fn decided_of(path: &Path, questions: &[String]) -> usize {
    let store = open(path).await;
    let mut decided = 0;
    for question in questions {
        let row = store.interrupt(question.parse().unwrap()).await.unwrap();
        decided += usize::from(row.unwrap().state == State::Resolved);
    }
    decided
}
