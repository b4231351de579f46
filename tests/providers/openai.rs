//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::behaviour::Ending;
use super::part::Received;
use super::refusal::{Refusal, check_roles, header};
use super::{RIGHT_KEY, SaidCall, event, pieces, schema_rules, sent_arguments, tool_rules};

pub(super) fn check(received: &Received) -> Result<(), Refusal> {
    if received.path != "/v1/chat/completions" {
        let text = format!("Invalid URL (POST {})", received.path);
        return Err(Refusal::new(404, text));
    }
    let Some(key) = header(&received.headers, "authorization").strip_prefix("Bearer ") else {
        return Err(Refusal::new(401, "You didn't provide an API key."));
    };
    if key != RIGHT_KEY {
        return Err(Refusal::new(
            401,
            format!("Incorrect API key provided: {key}."),
        ));
    }
    let body = &received.body;
    if body
        .get("model")
        .and_then(Value::as_str)
        .is_none_or(str::is_empty)
    {
        return Err(Refusal::bad_request("you must provide a model parameter"));
    }
    let roles = ["system", "developer", "assistant", "user", "tool"];
    check_roles(body.get("messages"), "messages", &roles)?;
    tool_rules::openai(body)?;
    let Some(format) = body.get("response_format") else {
        return Ok(());
    };
    if format["type"] != "json_schema" {
        return Ok(());
    }
    let named = &format["json_schema"];
    let name = named["name"].as_str().unwrap_or_default();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.is_empty() || name.len() > 64 || !name.bytes().all(fits) {
        return Err(Refusal::bad_request(
            "Invalid 'response_format.json_schema.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.",
        ));
    }
    if named["strict"] == true {
        schema_rules::openai(&named["schema"]).map_err(|fault| {
            Refusal::bad_request(format!(
                "Invalid schema for response_format '{name}': {fault}"
            ))
        })?;
    }
    Ok(())
}

pub(super) fn error_body(status: u16, message: &str) -> String {
    let (kind, code) = match status {
        401 => ("invalid_request_error", json!("invalid_api_key")),
        429 => ("requests", json!("rate_limit_exceeded")),
        500.. => ("server_error", Value::Null),
        _ => ("invalid_request_error", Value::Null),
    };
    let error = json!({"message": message, "type": kind, "param": null, "code": code});
    json!({ "error": error }).to_string()
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    let data = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
        "model": "double", "choices": [choice]});
    event(None, &data.to_string())
}

pub(super) fn opening() -> Vec<String> {
    vec![chunk(&json!({"role": "assistant", "content": ""}), None)]
}

pub(super) fn piece(text: &str) -> String {
    chunk(&json!({ "content": text }), None)
}

/// The pieces of the calls, one after the other.
fn asked_for(calls: &[SaidCall], ending: Ending) -> Vec<String> {
    let mut events = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let first = json!([{"index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": ""}}]);
        events.push(chunk(&json!({ "tool_calls": first }), None));
        let (arguments, _) = sent_arguments(calls, index, ending);
        for piece in pieces(arguments) {
            let more = json!([{"index": index, "function": {"arguments": piece}}]);
            events.push(chunk(&json!({ "tool_calls": more }), None));
        }
    }
    events
}

pub(super) fn closing(calls: &[SaidCall], ending: Ending) -> Vec<String> {
    let usage = json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18});
    let last = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
        "model": "double", "choices": [], "usage": usage});
    let mut events = asked_for(calls, ending);
    events.extend([
        chunk(
            &json!({}),
            Some(match ending {
                Ending::Whole if !calls.is_empty() => "tool_calls",
                Ending::Whole => "stop",
                Ending::CutOff => "length",
                Ending::Withheld => "content_filter",
            }),
        ),
        event(None, &last.to_string()),
        event(None, "[DONE]"),
    ]);
    events
}

pub(super) fn error_event() -> String {
    let error =
        json!({"message": "The server is overloaded.", "type": "server_error", "code": 503});
    event(None, &json!({ "error": error }).to_string())
}
