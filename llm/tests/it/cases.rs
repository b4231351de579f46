//! Streams from the field, each with what it says: read rightly, or a failure in the provider's words.

use interrupt_router::StopScope;
use interrupt_router::model::{
    LanguageModel, Message, ModelCall, ModelError, ModelReply, ToolOffer,
};

use serde_json::json;
use tests::providers::{Behaviour, WireForm};

use crate::calls::{double, model, talk};

use Said::{Call, Fails, FailsForGood, Text};
use WireForm::{Anthropic, Gemini, OpenAi, OpenAiResponses};

/// What a stream says.
#[derive(Debug)]
enum Said {
    Text(&'static str),
    /// The arguments of one call.
    Call(&'static str),
    /// Part of the failure, after which the call is made again.
    Fails(&'static str),
    /// Part of a failure after which it is not.
    FailsForGood(&'static str),
}

macro_rules! case {
    ($name:literal) => {
        include_str!(concat!("../cases/", $name, ".sse"))
    };
}

/// What broke other programs.
const RECORDED: [(WireForm, &str, Said); 17] = [
    (
        Anthropic,
        case!("anthropic-input-in-the-start-block"),
        Call(r#"{"table":"orders","where":"id = 17"}"#),
    ),
    (Anthropic, case!("anthropic-unknown-delta"), Text("ok")),
    (
        Gemini,
        case!("gemini-finish-MALFORMED_FUNCTION_CALL"),
        Fails("`MALFORMED_FUNCTION_CALL`"),
    ),
    (
        Gemini,
        case!("gemini-finish-MALFORMED_RESPONSE"),
        Fails("`MALFORMED_RESPONSE`"),
    ),
    (
        Gemini,
        case!("gemini-finish-MISSING_THOUGHT_SIGNATURE"),
        FailsForGood("`MISSING_THOUGHT_SIGNATURE`"),
    ),
    (Gemini, case!("gemini-finish-OTHER"), Fails("`OTHER`")),
    (
        Gemini,
        case!("gemini-finish-TOO_MANY_TOOL_CALLS"),
        Fails("`TOO_MANY_TOOL_CALLS`"),
    ),
    (
        Gemini,
        case!("gemini-finish-UNEXPECTED_TOOL_CALL"),
        Fails("`UNEXPECTED_TOOL_CALL`"),
    ),
    (
        Gemini,
        case!("gemini-malformed-with-a-call"),
        Fails("`MALFORMED_FUNCTION_CALL`"),
    ),
    (
        OpenAi,
        case!("openai-arguments-under-a-later-index"),
        FailsForGood("a call of a tool that never began"),
    ),
    (
        OpenAi,
        case!("openai-emoji-cut-between-chunks"),
        Text("x 😀 y"),
    ),
    (OpenAi, case!("openai-finish-abort"), Fails("`abort`")),
    (OpenAi, case!("openai-finish-error"), Fails("`error`")),
    (
        OpenAi,
        case!("openai-finish-insufficient_system_resource"),
        Fails("`insufficient_system_resource`"),
    ),
    (
        OpenAi,
        case!("openai-finish-network_error"),
        Fails("`network_error`"),
    ),
    (
        OpenAi,
        case!("openai-finish-repetition_truncation"),
        Fails("`repetition_truncation`"),
    ),
    (
        OpenAi,
        case!("openai-two-heads-on-one-index"),
        FailsForGood("a call of a tool that never began"),
    ),
];

const CHAT_END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
const ANTHROPIC_END: &str =
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n";

/// What would be lost in silence, or taken for a broken connection.
const WRITTEN: [(&str, WireForm, &str, &str, Said); 31] = [
    (
        "text where a block starts",
        Anthropic,
        r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}"#,
        ANTHROPIC_END,
        Text("Hello"),
    ),
    (
        "a byte order mark",
        OpenAi,
        "\u{feff}data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}",
        CHAT_END,
        Text("Hello"),
    ),
    (
        "text in the last event alone",
        OpenAiResponses,
        r#"data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]}}"#,
        "",
        Text("Hello"),
    ),
    (
        "text where it is done alone",
        OpenAiResponses,
        r#"data: {"type":"response.output_text.done","output_index":0,"content_index":0,"text":"Hello"}"#,
        "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n",
        Text("Hello"),
    ),
    (
        "a message in place of pieces",
        OpenAi,
        r#"data: {"choices":[{"index":0,"message":{"role":"assistant","content":"Hello"}}]}"#,
        CHAT_END,
        Text("Hello"),
    ),
    (
        "text in place of pieces",
        OpenAi,
        r#"data: {"choices":[{"index":0,"text":"Hello"}]}"#,
        CHAT_END,
        Text("Hello"),
    ),
    (
        "text in parts",
        OpenAi,
        r#"data: {"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"Hello"}]}}]}"#,
        CHAT_END,
        Text("Hello"),
    ),
    (
        "no error",
        OpenAi,
        r#"data: {"error":null,"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#,
        CHAT_END,
        Text("Hello"),
    ),
    (
        "nothing",
        Gemini,
        "data: {}",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hello\"}]},\"finishReason\":\"STOP\"}]}\n\n",
        Text("Hello"),
    ),
    (
        "a ping",
        OpenAi,
        "event: ping\ndata: {\"type\":\"ping\"}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}",
        CHAT_END,
        Text("Hello"),
    ),
    (
        "a ping of Anthropic's",
        Anthropic,
        "event: ping\ndata: {}",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Hello\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
        Text("Hello"),
    ),
    (
        "a last event without its blank line",
        OpenAi,
        r#"data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#,
        r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        Text("Hello"),
    ),
    (
        "an unknown kind of text",
        Anthropic,
        r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"new","text":"Hello"}}"#,
        ANTHROPIC_END,
        FailsForGood("text of an unknown kind"),
    ),
    (
        "an unknown place of text",
        OpenAi,
        r#"data: {"content":"Hello"}"#,
        CHAT_END,
        FailsForGood("text of an unknown kind"),
    ),
    (
        "a text of an unknown form",
        OpenAi,
        r#"data: {"choices":[{"index":0,"delta":{"content":{"a":"Hello"}}}]}"#,
        CHAT_END,
        FailsForGood("text of an unknown kind"),
    ),
    (
        "an error as JSON",
        OpenAi,
        r#"{"error":{"message":"no capacity left"}}"#,
        "",
        Fails("no capacity left"),
    ),
    (
        "an error as JSON of several lines",
        Gemini,
        "[{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"no capacity left\"\n  }\n}]",
        "",
        Fails("no capacity left"),
    ),
    (
        "an error as a detail",
        OpenAi,
        r#"{"detail":"no capacity left"}"#,
        "",
        Fails("no capacity left"),
    ),
    (
        "a detail in an event",
        OpenAi,
        r#"data: {"detail":"no capacity left"}"#,
        "",
        Fails("no capacity left"),
    ),
    (
        "a line of error",
        OpenAi,
        "error: no capacity left",
        "",
        Fails("no capacity left"),
    ),
    (
        "a line of error with JSON",
        OpenAi,
        r#"error: {"message":"no capacity left","code":503}"#,
        "",
        Fails("no capacity left"),
    ),
    (
        "an event of error in words",
        Anthropic,
        "event: error\ndata: no capacity left",
        "",
        Fails("no capacity left"),
    ),
    (
        "an error that is a text",
        OpenAi,
        r#"data: {"error":"no capacity left"}"#,
        CHAT_END,
        Fails("no capacity left"),
    ),
    (
        "an object that is an error",
        OpenAi,
        r#"data: {"object":"error","message":"no capacity left","code":500}"#,
        "",
        Fails("no capacity left"),
    ),
    (
        "an error of the answer",
        OpenAi,
        r#"data: {"choices":[{"index":0,"error":{"code":502,"message":"no capacity left"},"finish_reason":"error"}]}"#,
        CHAT_END,
        Fails("no capacity left"),
    ),
    (
        "a failed response",
        OpenAiResponses,
        r#"data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"no capacity left"}}}"#,
        "",
        Fails("no capacity left"),
    ),
    (
        "words in the midst",
        OpenAi,
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\ndata: no capacity left",
        "",
        Fails("no capacity left"),
    ),
    (
        "arguments that never arrived",
        OpenAi,
        r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"odd__delete_rows","arguments":""}}]}}]}"#,
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
        FailsForGood("no arguments arrived for its call of `odd__delete_rows`"),
    ),
    (
        "arguments of a tool that takes none",
        OpenAi,
        r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"now","arguments":""}}]}}]}"#,
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
        Call("{}"),
    ),
    (
        "arguments under another block",
        Anthropic,
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"odd__delete_rows\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"table\\\":\\\"a\\\"}\"}}",
        ANTHROPIC_END,
        FailsForGood("a call of a tool that never began"),
    ),
    (
        "arguments of another item",
        OpenAiResponses,
        "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"odd__delete_rows\"}}\n\ndata: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":3,\"delta\":\"{}\"}",
        "",
        FailsForGood("a call of a tool that never began"),
    ),
];

async fn answered(form: WireForm, stream: &str) -> Result<ModelReply, ModelError> {
    let double = double(form, [Behaviour::Sends(stream.to_owned())]).await;
    let offer = |name: &str, properties: serde_json::Value| ToolOffer {
        name: name.to_owned(),
        description: String::new(),
        arguments: json!({"type": "object", "properties": properties}),
    };
    let text = json!({"type": "string"});
    let call = ModelCall {
        tools: [
            offer("odd__delete_rows", json!({"table": text, "where": text})),
            offer("now", json!({})),
        ]
        .into(),
        ..talk(vec![Message::user("Go.")])
    };
    let outcome = model(&double, form).call(call, &StopScope::new()).await?;
    Ok(outcome.completed().unwrap())
}

/// What is wrong with how a stream is read.
async fn misread(form: WireForm, stream: &str, said: &Said) -> Option<String> {
    let ended = answered(form, stream).await;
    let is_right = match (said, &ended) {
        (Text(text), Ok(reply)) => reply.text == *text && reply.tool_requests.is_empty(),
        (Call(arguments), Ok(reply)) => {
            matches!(&reply.tool_requests[..], [only] if only.arguments == *arguments)
        }
        (Fails(words), Err(error)) => error.to_string().contains(words) && error.is_transient(),
        (FailsForGood(words), Err(error)) => {
            error.to_string().contains(words) && !error.is_transient()
        }
        _ => false,
    };
    (!is_right).then(|| format!("{form:?} {said:?}: {ended:?}"))
}

#[tokio::test]
async fn each_recorded_stream_is_read_rightly_or_is_a_failure_in_the_providers_words() {
    let mut wrong = Vec::new();
    for (form, stream, said) in &RECORDED {
        wrong.extend(misread(*form, stream, said).await);
    }
    let sensitive = answered(OpenAi, case!("openai-finish-sensitive")).await;
    assert!(
        matches!(&sensitive, Err(ModelError::Filtered { detail }) if detail.contains("`sensitive`")),
        "{sensitive:?}"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn text_is_never_lost_in_silence_and_an_error_is_told_in_its_own_words() {
    let mut wrong = Vec::new();
    for (name, form, first, rest, said) in &WRITTEN {
        for end in ["\n", "\r\n", "\r"] {
            let stream = format!("{first}\n\n{rest}").replace('\n', end);
            let misread = misread(*form, &stream, said).await;
            wrong.extend(misread.map(|misread| format!("{name} ({end:?}): {misread}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
