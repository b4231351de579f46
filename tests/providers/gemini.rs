//! Gemini's `streamGenerateContent`.

use serde_json::{Value, json};

use super::behaviour::Ending;
use super::part::Received;
use super::refusal::{Refusal, check_roles, header};
use super::{RIGHT_KEY, SaidCall, event, schema_rules, tool_rules};

pub(super) fn check(received: &Received) -> Result<(), Refusal> {
    let asked = received.path.strip_prefix("/v1beta/models/");
    let streamed = asked.is_some_and(|asked| asked.ends_with(":streamGenerateContent?alt=sse"));
    if !streamed {
        return Err(Refusal::new(404, format!("{} is not found", received.path)));
    }
    match header(&received.headers, "x-goog-api-key") {
        "" => {
            let text = "Method doesn't allow unregistered callers. Please use API Key.";
            return Err(Refusal::new(403, text));
        }
        RIGHT_KEY => {}
        _ => {
            return Err(Refusal::bad_request(
                "API key not valid. Please pass a valid API key.",
            ));
        }
    }
    let body = &received.body;
    check_roles(body.get("contents"), "contents", &["user", "model"])?;
    tool_rules::gemini(body, &received.path)?;
    let config = body.get("generationConfig").unwrap_or(&Value::Null);
    if let Some(schema) = config.get("responseJsonSchema") {
        if config["responseMimeType"] != "application/json" {
            let text = "response_json_schema is set, response_mime_type must be application/json";
            return Err(Refusal::bad_request(text));
        }
        schema_rules::gemini(schema).map_err(|fault| {
            Refusal::bad_request(format!(
                "GenerateContentRequest.generation_config.response_json_schema: {fault}"
            ))
        })?;
    }
    Ok(())
}

pub(super) fn error_body(status: u16, message: &str) -> String {
    let name = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    json!({"error": {"code": status, "message": message, "status": name}}).to_string()
}

fn chunk(text: &str, finish: Option<&str>, written: u32) -> String {
    parts(&json!([{ "text": text }]), finish, written)
}

fn parts(parts: &Value, finish: Option<&str>, written: u32) -> String {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let usage = json!({"promptTokenCount": 11, "candidatesTokenCount": written,
        "totalTokenCount": 11 + written});
    let data = json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "double"});
    event(None, &data.to_string())
}

pub(super) fn piece(text: &str) -> String {
    chunk(text, None, 1)
}

/// A part for each call: the first two in one event, as calls at once may come.
fn asked_for(calls: &[SaidCall]) -> Vec<String> {
    let part = |call: &SaidCall| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let mut part = json!({"functionCall": {"name": call.name, "args": arguments}});
        if !call.id.is_empty() {
            part["functionCall"]["id"] = json!(call.id);
        }
        if let Some(signature) = &call.signature {
            part["thoughtSignature"] = json!(signature);
        }
        part
    };
    let together = |calls: &[SaidCall]| {
        let all: Value = calls.iter().map(part).collect();
        parts(&all, None, 1)
    };
    calls.chunks(2).map(together).collect()
}

pub(super) fn closing(calls: &[SaidCall], ending: Ending) -> Vec<String> {
    let mut events = asked_for(calls);
    events.push(chunk(
        "",
        Some(match ending {
            Ending::Whole => "STOP",
            Ending::CutOff => "MAX_TOKENS",
            Ending::Withheld => "SAFETY",
        }),
        7,
    ));
    events
}

pub(super) fn error_event() -> String {
    event(None, &error_body(503, "The model is overloaded."))
}
