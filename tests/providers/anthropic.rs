//! Anthropic's messages.

use serde_json::{Value, json};

use super::behaviour::Ending;
use super::part::Received;
use super::refusal::{Refusal, check_roles, header};
use super::{RIGHT_KEY, SaidCall, event, pieces, schema_rules, sent_arguments, tool_rules};

pub(super) fn check(received: &Received) -> Result<(), Refusal> {
    if received.path != "/v1/messages" {
        return Err(Refusal::new(404, "Not found"));
    }
    match header(&received.headers, "x-api-key") {
        "" => return Err(Refusal::new(401, "x-api-key header is required")),
        RIGHT_KEY => {}
        key => return Err(Refusal::new(401, format!("invalid x-api-key {key}"))),
    }
    if header(&received.headers, "anthropic-version") != "2023-06-01" {
        return Err(Refusal::bad_request(
            "anthropic-version: header is required",
        ));
    }
    let body = &received.body;
    if body
        .get("model")
        .and_then(Value::as_str)
        .is_none_or(str::is_empty)
    {
        return Err(Refusal::bad_request("model: Field required"));
    }
    if body.get("max_tokens").and_then(Value::as_u64).unwrap_or(0) == 0 {
        return Err(Refusal::bad_request("max_tokens: Field required"));
    }
    check_roles(body.get("messages"), "messages", &["user", "assistant"])?;
    tool_rules::anthropic(body)?;
    if let Some(schema) = body.pointer("/output_config/format/schema") {
        schema_rules::anthropic(schema).map_err(|fault| {
            Refusal::bad_request(format!("output_config.format.schema: {fault}"))
        })?;
    }
    Ok(())
}

pub(super) fn error_body(status: u16, message: &str) -> String {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

fn named(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    event(Some(name), &data.to_string())
}

pub(super) fn opening() -> Vec<String> {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "model": "double", "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 11, "output_tokens": 1}});
    vec![
        named("message_start", json!({ "message": message })),
        named(
            "content_block_start",
            json!({"index": 0, "content_block": {"type": "text", "text": ""}}),
        ),
        named("ping", json!({})),
    ]
}

pub(super) fn piece(text: &str) -> String {
    named(
        "content_block_delta",
        json!({"index": 0, "delta": {"type": "text_delta", "text": text}}),
    )
}

fn block_start(index: usize, block: &Value) -> String {
    let data = json!({"index": index, "content_block": block});
    named("content_block_start", data)
}

fn block_delta(index: usize, delta: &Value) -> String {
    named(
        "content_block_delta",
        json!({"index": index, "delta": delta}),
    )
}

fn block_stop(index: usize) -> String {
    named("content_block_stop", json!({ "index": index }))
}

/// A block for each call, and one of thought before where it is signed.
fn asked_for(calls: &[SaidCall], ending: Ending) -> Vec<String> {
    let mut events = Vec::new();
    let mut block = 1;
    for (index, call) in calls.iter().enumerate() {
        if let Some(signature) = &call.signature {
            let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
            let signed = json!({"type": "signature_delta", "signature": signature});
            let thought = json!({"type": "thinking_delta", "thinking": "Let me see."});
            events.extend([
                block_start(block, &thinking),
                block_delta(block, &thought),
                block_delta(block, &signed),
                block_stop(block),
            ]);
            block += 1;
        }
        let begun = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        events.push(block_start(block, &begun));
        let (arguments, is_cut) = sent_arguments(calls, index, ending);
        for piece in std::iter::once("").chain(pieces(arguments)) {
            let delta = json!({"type": "input_json_delta", "partial_json": piece});
            events.push(block_delta(block, &delta));
        }
        if !is_cut {
            events.push(block_stop(block));
        }
        block += 1;
    }
    events
}

pub(super) fn closing(calls: &[SaidCall], ending: Ending) -> Vec<String> {
    let reason = match ending {
        Ending::Whole if !calls.is_empty() => "tool_use",
        Ending::Whole => "end_turn",
        Ending::CutOff => "max_tokens",
        Ending::Withheld => "refusal",
    };
    let mut events = vec![block_stop(0)];
    events.extend(asked_for(calls, ending));
    events.extend([
        named(
            "message_delta",
            json!({"delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": 7}}),
        ),
        named("message_stop", json!({})),
    ]);
    events
}

pub(super) fn error_event() -> String {
    named(
        "error",
        json!({"error": {"type": "overloaded_error", "message": "Overloaded"}}),
    )
}
