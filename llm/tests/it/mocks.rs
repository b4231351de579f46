//! Servers that others have made to break clients: `llmock`, which judges them, and `aimock`. Only where `LLMOCK` and `AIMOCK` name
//! their addresses, for they have to be installed: `llm/tests/mocks/install` and `serve` do so.

use std::time::Duration;

use interrupt_router::StopScope;
use interrupt_router::model::{LanguageModel, Message, ModelError};
use llm::{CallLimits, ProviderModel, RetryPolicy, Retrying};
use serde_json::{Value, json};
use tests::providers::WireForm;

use crate::calls::{limits, model_at, talk};

/// A stall that is longer than a client should wait.
const STALL: Duration = Duration::from_secs(4);

/// The model of a form at a server, tried again as it is by default, with no patience for silence.
fn model(address: &str, form: WireForm, path: &str) -> Retrying<ProviderModel> {
    let limits = CallLimits {
        silence: STALL / 4,
        ..limits()
    };
    let address = format!("{}{path}", address.trim_end_matches('/'));
    let model = model_at(&address, form, "a-key-of-length", limits);
    Retrying::new(model, RetryPolicy::default())
}

async fn asked(model: &impl LanguageModel, what: &str) -> Result<String, ModelError> {
    let call = talk(vec![Message::user(what)]);
    let outcome = model.call(call, &StopScope::new()).await?;
    Ok(outcome.completed().unwrap().text)
}

async fn posted(http: &reqwest::Client, url: String, body: &Value) {
    let answer = http.post(url).json(body).send().await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
}

/// Faults of `llmock`, and whether the call has an answer in the end.
fn faults() -> Vec<(Value, bool)> {
    let stream = |kind: &str| json!({"type": "stream_fault", "kind": kind, "after_chunks": 2});
    let fails = |status: u16, times: u32| json!({"type": "fail", "status": status, "times": times});
    let mut faults: Vec<(Value, bool)> = [400, 401, 403, 404, 422]
        .map(|status| (fails(status, 1), false))
        .into();
    faults.extend([408, 500, 502, 503, 529].map(|status| (fails(status, 2), true)));
    faults.push((
        json!({"type": "fail", "status": 429, "retry_after": 1, "times": 2}),
        true,
    ));
    let broken = ["disconnect", "malformed", "truncate"];
    faults.extend(broken.map(|kind| (stream(kind), true)));
    let mut stall = stream("stall");
    stall["stall_seconds"] = STALL.as_secs().into();
    faults.push((stall, true));
    faults.push((json!({"type": "slow_first_token", "seconds": 0.5}), true));
    faults
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_judges_its_clients_has_nothing_against_this_one() {
    let Ok(address) = std::env::var("LLMOCK") else {
        return;
    };
    let http = tls::client().build().unwrap();
    for (form, path) in [
        (WireForm::OpenAi, "/v1/"),
        (WireForm::OpenAiResponses, "/v1/"),
        (WireForm::Anthropic, "/anthropic/v1/"),
        (WireForm::Gemini, "/gemini/v1beta/"),
    ] {
        for (number, (fault, is_answered)) in faults().into_iter().enumerate() {
            posted(&http, format!("{address}/_llmock/reset"), &Value::Null).await;
            let scenario = json!({ "behaviors": [fault] });
            posted(&http, format!("{address}/_llmock/scenario"), &scenario).await;
            let model = model(&address, form, path);
            let ended = asked(&model, &format!("Say something, number {number}.")).await;
            assert_eq!(ended.is_ok(), is_answered, "{form:?} {fault} {ended:?}");
            let verdict = http.get(format!("{address}/_llmock/verdict"));
            let verdict: Value = verdict.send().await.unwrap().json().await.unwrap();
            println!("{form:?} {fault}: {verdict}");
            let found = verdict["findings"].as_array().unwrap();
            assert!(found.is_empty(), "{form:?} {fault}: {verdict}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_chaos_in_it_is_answered_or_named() {
    let Ok(address) = std::env::var("AIMOCK") else {
        return;
    };
    let http = tls::client().build().unwrap();
    let chaos = format!("{address}/__aimock/chaos");
    for (form, path) in [
        (WireForm::OpenAi, "/v1/"),
        (WireForm::OpenAiResponses, "/v1/"),
        (WireForm::Anthropic, "/v1/"),
        (WireForm::Gemini, "/v1beta/"),
    ] {
        let model = model(&address, form, path);
        for name in [
            "dropRate",
            "malformedRate",
            "disconnectRate",
            "rateLimitRate",
        ] {
            posted(&http, chaos.clone(), &json!({ name: 0.5 })).await;
            for _ in 0..10 {
                match asked(&model, "hello").await {
                    Ok(text) => assert!(text.starts_with("Hello!"), "{form:?} {name} {text}"),
                    // What breaks off is tried three times, and that may not be enough.
                    Err(error) => println!("{form:?} {name}: {error}"),
                }
            }
            http.delete(chaos.clone()).send().await.unwrap();
            let text = asked(&model, "hello").await.unwrap();
            assert!(text.starts_with("Hello!"), "{form:?} {name} {text}");
        }
    }
}
