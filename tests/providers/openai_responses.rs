//! OpenAI's Responses API, with answers that are made in the background and cancelled by request.

use serde_json::{Value, json};

use super::behaviour::Ending;
use super::part::Received;
use super::refusal::{Refusal, check_roles, header};
use super::{RIGHT_KEY, SaidCall, event, pieces, schema_rules, sent_arguments, tool_rules};

/// Where a response is cancelled: the id of the response.
pub(super) fn cancelled_by(path: &str) -> Option<&str> {
    path.strip_prefix("/v1/responses/")?.strip_suffix("/cancel")
}

/// Refuses a cancellation without the right key.
pub(super) fn check_key(received: &Received) -> Result<(), Refusal> {
    match header(&received.headers, "authorization").strip_prefix("Bearer ") {
        None => Err(Refusal::new(401, "You didn't provide an API key.")),
        Some(RIGHT_KEY) => Ok(()),
        Some(key) => {
            let text = format!("Incorrect API key provided: {key}.");
            Err(Refusal::new(401, text))
        }
    }
}

pub(super) fn check(received: &Received) -> Result<(), Refusal> {
    if received.path != "/v1/responses" {
        let text = format!("Invalid URL (POST {})", received.path);
        return Err(Refusal::new(404, text));
    }
    check_key(received)?;
    let body = &received.body;
    if body["model"].as_str().is_none_or(str::is_empty) {
        return Err(Refusal::bad_request("you must provide a model parameter"));
    }
    if body["background"] == true && body["store"] != true {
        return Err(Refusal::bad_request(
            "Background mode requires store to be true.",
        ));
    }
    let roles = ["system", "developer", "assistant", "user"];
    // Items about tools have no role.
    let has_role = |item: &&Value| item.get("role").is_some();
    let input = body.get("input").and_then(Value::as_array);
    let said: Option<Value> = input.map(|input| input.iter().filter(has_role).cloned().collect());
    check_roles(said.as_ref(), "input", &roles)?;
    tool_rules::openai_responses(body)?;
    if let Some(schema) = body.pointer("/text/format/schema") {
        schema_rules::openai(schema).map_err(|fault| {
            Refusal::bad_request(format!("Invalid schema for response_format: {fault}"))
        })?;
    }
    Ok(())
}

/// The id of the response to the request of this number.
pub(super) fn response_id(number: usize) -> String {
    format!("resp_{number}")
}

/// A response as it stands in events and in the answer to a cancellation.
pub(super) fn response(id: &str, status: &str, background: bool) -> Value {
    json!({"id": id, "object": "response", "created_at": 1, "status": status, "error": null,
        "background": background, "incomplete_details": null, "model": "double", "output": [],
        "usage": null})
}

fn named(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    event(Some(name), &data.to_string())
}

pub(super) fn opening(number: usize) -> Vec<String> {
    let begun = json!({"response": response(&response_id(number), "in_progress", false)});
    let item = json!({"id": "msg_1", "type": "message", "status": "in_progress",
        "role": "assistant", "content": []});
    let part = json!({"type": "output_text", "text": "", "annotations": []});
    vec![
        named("response.created", begun.clone()),
        named("response.in_progress", begun),
        named(
            "response.output_item.added",
            json!({"output_index": 0, "item": item}),
        ),
        named(
            "response.content_part.added",
            json!({"item_id": "msg_1", "output_index": 0, "content_index": 0, "part": part}),
        ),
    ]
}

pub(super) fn piece(text: &str) -> String {
    named(
        "response.output_text.delta",
        json!({"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text}),
    )
}

/// An item for each call.
fn asked_for(calls: &[SaidCall], ending: Ending) -> Vec<String> {
    let mut events = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let place = index + 1;
        let item = |arguments: &str, status: &str| {
            let item = json!({"id": format!("fc_{index}"), "type": "function_call",
                "status": status, "call_id": call.id, "name": call.name, "arguments": arguments});
            json!({"output_index": place, "item": item})
        };
        events.push(named("response.output_item.added", item("", "in_progress")));
        let (arguments, is_cut) = sent_arguments(calls, index, ending);
        for piece in pieces(arguments) {
            let data = json!({"item_id": format!("fc_{index}"), "output_index": place,
                "delta": piece});
            events.push(named("response.function_call_arguments.delta", data));
        }
        let status = if is_cut { "incomplete" } else { "completed" };
        let done = item(arguments, status);
        events.push(named("response.output_item.done", done));
    }
    events
}

pub(super) fn closing(calls: &[SaidCall], ending: Ending) -> Vec<String> {
    let (status, why) = match ending {
        Ending::Whole => ("completed", Value::Null),
        Ending::CutOff => ("incomplete", json!({"reason": "max_output_tokens"})),
        Ending::Withheld => ("incomplete", json!({"reason": "content_filter"})),
    };
    let mut whole = response(&response_id(1), status, false);
    whole["incomplete_details"] = why;
    whole["usage"] = json!({"input_tokens": 11, "output_tokens": 7, "total_tokens": 18});
    let mut events = vec![
        named(
            "response.output_text.done",
            json!({"item_id": "msg_1", "output_index": 0, "content_index": 0, "text": ""}),
        ),
        named(
            "response.output_item.done",
            json!({"output_index": 0, "item": {"id": "msg_1", "type": "message"}}),
        ),
    ];
    events.extend(asked_for(calls, ending));
    let last = json!({ "response": whole });
    events.push(named(&format!("response.{status}"), last));
    events
}

pub(super) fn error_event() -> String {
    let said =
        json!({"code": "server_error", "message": "The server is overloaded.", "param": null});
    named("error", said)
}
