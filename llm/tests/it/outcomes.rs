//! What is no answer, told as what it is: each in a sentence of its own, with the provider's words.

use interrupt_router::model::ModelError;
use llm::hint;
use tests::providers::{Behaviour, WireForm};

use crate::calls::ending;

/// Events of a stream, without names.
fn events(data: &[&str]) -> Behaviour {
    let events = data.iter().map(|data| format!("data: {data}\n\n"));
    Behaviour::Sends(events.collect())
}

/// Events of a stream that have names, which are their types.
fn named(data: &[(&str, &str)]) -> Behaviour {
    let events = data
        .iter()
        .map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
    Behaviour::Sends(events.collect())
}

fn refusal(status: u16, body: &str) -> Behaviour {
    Behaviour::RefusesWith {
        status,
        body: body.to_owned(),
    }
}

async fn sentence(form: WireForm, behaviour: Behaviour) -> String {
    let error = ending(form, behaviour).await.unwrap_err();
    assert!(!hint(&error).is_empty());
    assert!(!error.is_transient(), "{error:?}");
    error.to_string()
}

/// The stream of an answer in which the model refuses to give one. Gemini knows none.
pub(crate) fn refused_by_the_model(form: WireForm) -> Behaviour {
    let chat = events(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":""},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"refusal":"I can't "},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{"refusal":"help with that."},"finish_reason":null}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    let responses = named(&[
        (
            "response.created",
            r#"{"type":"response.created","response":{"id":"resp_1"}}"#,
        ),
        (
            "response.refusal.delta",
            r#"{"type":"response.refusal.delta","delta":"I can't help with that."}"#,
        ),
        (
            "response.completed",
            r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[]}}"#,
        ),
    ]);
    let anthropic = named(&[
        (
            "message_start",
            r#"{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}"#,
        ),
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        ),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I can't help with that."}}"#,
        ),
        (
            "content_block_stop",
            r#"{"type":"content_block_stop","index":0}"#,
        ),
        (
            "message_delta",
            r#"{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":5}}"#,
        ),
        ("message_stop", r#"{"type":"message_stop"}"#),
    ]);
    match form {
        WireForm::OpenAi | WireForm::Gemini => chat,
        WireForm::OpenAiResponses => responses,
        WireForm::Anthropic => anthropic,
    }
}

#[tokio::test]
async fn a_refusal_is_in_the_models_own_words() {
    for form in [
        WireForm::OpenAi,
        WireForm::OpenAiResponses,
        WireForm::Anthropic,
    ] {
        assert_eq!(
            sentence(form, refused_by_the_model(form)).await,
            "the model refused to answer: I can't help with that.",
            "{form:?}"
        );
    }
}

#[tokio::test]
async fn a_prompt_that_a_filter_does_not_take_is_no_broken_answer() {
    let blocked = events(&[
        r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":4}}"#,
    ]);
    let said = sentence(WireForm::Gemini, blocked).await;
    assert!(
        said.contains("content filter") && said.contains("PROHIBITED_CONTENT"),
        "{said}"
    );
    let azure = r#"{"error":{"code":"content_filter","message":"The prompt was filtered.","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#;
    let said = sentence(WireForm::OpenAi, refusal(400, azure)).await;
    assert_eq!(
        said,
        "the provider's content filter kept the answer back: The prompt was filtered."
    );
}

#[tokio::test]
async fn a_full_context_is_told_with_its_size() {
    let llama = r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}"#;
    let anthropic = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#;
    let gemini = r#"[{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."}}]"#;
    for (form, body, words) in [
        (
            WireForm::OpenAi,
            llama,
            "exceeds the available context size",
        ),
        (
            WireForm::Anthropic,
            anthropic,
            "210000 tokens > 200000 maximum",
        ),
        (WireForm::Gemini, gemini, "1048576"),
    ] {
        let said = sentence(form, refusal(400, body)).await;
        assert!(
            said.starts_with("the prompt does not fit into what the model can read"),
            "{said}"
        );
        assert!(said.contains(words), "{said}");
    }
}

#[tokio::test]
async fn a_missing_payment_is_no_bad_request_and_no_rate_limit() {
    let credit = r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#;
    let quota = r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    for (form, status, body) in [
        (
            WireForm::OpenAi,
            402,
            r#"{"error":{"message":"Insufficient Balance"}}"#,
        ),
        (WireForm::OpenAi, 429, quota),
        (WireForm::Anthropic, 400, credit),
        (WireForm::Gemini, 402, ""),
    ] {
        let error = ending(form, refusal(status, body)).await.unwrap_err();
        assert!(
            matches!(error, ModelError::Unpaid { status: got, .. } if got == status),
            "{error:?}"
        );
        assert!(!error.is_transient() && error.is_free());
    }
}

#[tokio::test]
async fn a_page_for_people_is_named_and_not_printed() {
    for status in [404, 502, 503] {
        let page =
            "<!DOCTYPE html><html><head><title>Bad gateway</title></head><body>…</body></html>";
        let error = ending(WireForm::OpenAi, refusal(status, page))
            .await
            .unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("a page for people") && !said.contains('<'),
            "{said}"
        );
    }
}
