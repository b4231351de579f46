//! Streams as the providers' own pages show them, with all that stands in them and is not asked for. Written after the formats that
//! are published, read in November 2026; the source stands at each.

use interrupt_router::model::{ModelError, ModelReply};
use tests::providers::{Behaviour, WireForm};

use crate::calls::ending;

/// Events without names.
fn data(events: &[&str]) -> String {
    events
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}

/// Events that are named by their own type.
fn typed(events: &[&str]) -> String {
    let name = |data: &str| -> String {
        let value: serde_json::Value = serde_json::from_str(data).unwrap();
        value["type"].as_str().unwrap().to_owned()
    };
    let event = |data: &&str| format!("event: {}\ndata: {data}\n\n", name(data));
    events.iter().map(event).collect()
}

async fn read(form: WireForm, stream: String) -> Result<ModelReply, ModelError> {
    let outcome = ending(form, Behaviour::Sends(stream)).await?;
    Ok(outcome.completed().unwrap())
}

/// A text, tokens read, tokens written.
async fn is_read_as(form: WireForm, stream: String, expected: (&str, Option<u64>, Option<u64>)) {
    let reply = read(form, stream).await.unwrap();
    let (text, input, output) = expected;
    assert_eq!(reply.text, text, "{form:?}");
    assert_eq!(reply.usage.input, input, "{form:?}");
    assert_eq!(reply.usage.output, output, "{form:?}");
    assert!(!reply.cut_off);
}

/// OpenAI, API reference, Chat completions: "The chat completion chunk object"; the cost comes in a chunk without choices.
#[tokio::test]
async fn chat_completions_of_openai() {
    let stream = data(&[
        r#"{"id":"chatcmpl-B9","object":"chat.completion.chunk","created":1741569952,"model":"gpt-5","service_tier":"default","system_fingerprint":"fp_44","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"aX9"}"#,
        r#"{"id":"chatcmpl-B9","object":"chat.completion.chunk","created":1741569952,"model":"gpt-5","choices":[{"index":0,"delta":{"content":"Hel"},"logprobs":{"content":[{"token":"Hel","logprob":-0.1,"bytes":[72,101,108],"top_logprobs":[]}],"refusal":null},"finish_reason":null}],"usage":null,"obfuscation":"b"}"#,
        r#"{"id":"chatcmpl-B9","object":"chat.completion.chunk","created":1741569952,"model":"gpt-5","choices":[{"index":0,"delta":{"content":"lo"},"logprobs":null,"finish_reason":null}],"usage":null}"#,
        r#"{"id":"chatcmpl-B9","object":"chat.completion.chunk","created":1741569952,"model":"gpt-5","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}"#,
        r#"{"id":"chatcmpl-B9","object":"chat.completion.chunk","created":1741569952,"model":"gpt-5","choices":[],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":8,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}"#,
        "[DONE]",
    ]);
    is_read_as(WireForm::OpenAi, stream, ("Hello", Some(19), Some(10))).await;
}

/// llama.cpp, `tools/server/README.md`: no content at first, progress of the prompt, and times in the last chunk.
#[tokio::test]
async fn chat_completions_of_llama_cpp() {
    let stream = data(&[
        r#"{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"id":"c","model":"m.gguf","system_fingerprint":"b1","object":"chat.completion.chunk","prompt_progress":{"total":40,"cache":0,"processed":20,"time_ms":12}}"#,
        r#"{"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Hello"}}],"created":1,"id":"c","model":"m.gguf","object":"chat.completion.chunk"}"#,
        r#"{"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"created":1,"id":"c","model":"m.gguf","object":"chat.completion.chunk"}"#,
        r#"{"choices":[],"created":1,"id":"c","model":"m.gguf","object":"chat.completion.chunk","usage":{"completion_tokens":2,"prompt_tokens":40,"total_tokens":42},"timings":{"cache_n":0,"prompt_n":40,"prompt_ms":12.5,"predicted_n":2,"predicted_ms":3.5}}"#,
        "[DONE]",
    ]);
    is_read_as(WireForm::OpenAi, stream, ("Hello", Some(40), Some(2))).await;
}

/// DeepSeek, API reference: "Create chat completion" and "Thinking mode"; OpenRouter, "Streaming": comments while nothing comes.
#[tokio::test]
async fn chat_completions_with_comments_and_thoughts() {
    let events = data(&[
        r#"{"id":"g","provider":"DeepSeek","model":"deepseek/deepseek-r1","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"Let me"},"finish_reason":null,"native_finish_reason":null}]}"#,
        r#"{"id":"g","model":"deepseek/deepseek-r1","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"content":"","reasoning_content":" think."},"finish_reason":null}]}"#,
        r#"{"id":"g","model":"deepseek/deepseek-r1","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"content":"Hello","reasoning_content":null},"finish_reason":null}]}"#,
        r#"{"id":"g","model":"deepseek/deepseek-r1","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":7,"cost":0.0001}}"#,
        "[DONE]",
    ]);
    let stream = format!(": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n{events}");
    is_read_as(WireForm::OpenAi, stream, ("Hello", Some(7), Some(5))).await;
}

/// Anthropic, "Streaming messages": a ping, a block of thought with its signature, and an event of a kind that is not known yet.
#[tokio::test]
async fn messages_of_anthropic() {
    let stream = typed(&[
        r#"{"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","content":[],"model":"claude-opus-4-6","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"standard"}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I need to greet."}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}"#,
        r#"{"type":"something_new","index":1,"what":{"nobody":"knows"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    is_read_as(WireForm::Anthropic, stream, ("Hello", Some(25), Some(15))).await;
}

/// Google, Gemini API, "Thinking" and `GenerateContentResponse`: parts that are thoughts, a signature, ratings, and their cost.
#[tokio::test]
async fn contents_of_gemini() {
    let stream = data(&[
        r#"{"candidates":[{"content":{"parts":[{"text":"**Greeting**","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":8,"totalTokenCount":20,"promptTokensDetails":[{"modality":"TEXT","tokenCount":8}],"thoughtsTokenCount":12},"modelVersion":"gemini-2.5-flash","responseId":"r1"}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"Hel"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":1,"totalTokenCount":21,"thoughtsTokenCount":12},"modelVersion":"gemini-2.5-flash","responseId":"r1"}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"lo","thoughtSignature":"CiQB"}],"role":"model"},"finishReason":"STOP","index":0,"safetyRatings":[{"category":"HARM_CATEGORY_HATE_SPEECH","probability":"NEGLIGIBLE"}]}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":2,"totalTokenCount":22,"thoughtsTokenCount":12},"modelVersion":"gemini-2.5-flash","responseId":"r1"}"#,
    ]);
    is_read_as(WireForm::Gemini, stream, ("Hello", Some(8), Some(14))).await;
}

/// OpenAI, API reference, Responses: "Streaming events", with an item of reasoning before the message.
#[tokio::test]
async fn events_of_responses() {
    let stream = typed(&[
        r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_67","object":"response","created_at":1,"status":"in_progress","background":false,"error":null,"incomplete_details":null,"instructions":null,"model":"gpt-5","output":[],"usage":null}}"#,
        r#"{"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_67","object":"response","status":"in_progress","output":[]}}"#,
        r#"{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","sequence_number":3,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"A greeting."}"#,
        r#"{"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"A greeting."}]}}"#,
        r#"{"type":"response.output_item.added","sequence_number":5,"output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}"#,
        r#"{"type":"response.content_part.added","sequence_number":6,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}"#,
        r#"{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"Hel","logprobs":[],"obfuscation":"Zq"}"#,
        r#"{"type":"response.output_text.delta","sequence_number":8,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"lo","logprobs":[]}"#,
        r#"{"type":"response.output_text.done","sequence_number":9,"item_id":"msg_1","output_index":1,"content_index":0,"text":"Hello","logprobs":[]}"#,
        r#"{"type":"response.content_part.done","sequence_number":10,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"Hello","annotations":[]}}"#,
        r#"{"type":"response.output_item.done","sequence_number":11,"output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hello","annotations":[]}]}}"#,
        r#"{"type":"response.completed","sequence_number":12,"response":{"id":"resp_67","object":"response","created_at":1,"status":"completed","error":null,"incomplete_details":null,"model":"gpt-5","output":[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Hello","annotations":[]}]}],"usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":0},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":9},"total_tokens":48}}}"#,
    ]);
    is_read_as(
        WireForm::OpenAiResponses,
        stream,
        ("Hello", Some(37), Some(11)),
    )
    .await;
}

/// OpenRouter, "Errors": one in the midst of a stream stands beside a choice that ends with `error`.
#[tokio::test]
async fn an_error_beside_a_choice_is_no_answer() {
    let stream = data(&[
        r#"{"id":"g","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}"#,
        r#"{"id":"g","object":"chat.completion.chunk","created":1,"model":"m","provider":"openai","error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
        "[DONE]",
    ]);
    let error = read(WireForm::OpenAi, stream).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the provider failed (502): Provider disconnected"
    );
}
