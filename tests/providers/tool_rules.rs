//! What providers refuse about tools: requests without results, results without requests, ids and names.

use std::collections::HashSet;

use serde_json::Value;

use super::refusal::Refusal;

type Checked = Result<(), Refusal>;

fn refused(text: impl Into<String>) -> Checked {
    Err(Refusal::bad_request(text))
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn is_plain(name: &str, longest: usize) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.len() <= longest && name.bytes().all(fits)
}

/// A definition of a tool: its name, and the schema of its arguments.
fn check_definition(name: &str, schema: Option<&Value>) -> Checked {
    if !is_plain(name, 64) {
        return refused(format!("Invalid tool name '{name}'"));
    }
    let Some(schema) = schema.filter(|schema| schema["type"] == "object") else {
        return refused(format!("Invalid schema for function '{name}'"));
    };
    if let Some(union) = ["anyOf", "oneOf", "allOf", "enum", "not"]
        .iter()
        .find(|keyword| schema.get(**keyword).is_some())
    {
        return refused(format!(
            "Invalid schema for function '{name}': schema must have type 'object' and not have '{union}' at the top level."
        ));
    }
    let text = schema.to_string();
    if text.contains("\"exclusiveMinimum\":true") {
        return refused(format!(
            "tools.0.custom.input_schema: JSON schema is invalid ('{name}'). It must match JSON Schema draft 2020-12"
        ));
    }
    Ok(())
}

/// The names that Anthropic takes for properties.
fn check_property_names(schema: &Value) -> Checked {
    let properties = schema.get("properties").and_then(Value::as_object);
    for name in properties
        .into_iter()
        .flat_map(|properties| properties.keys())
    {
        if !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        {
            return refused(
                "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
            );
        }
    }
    Ok(())
}

/// Chat completions.
pub(super) fn openai(body: &Value) -> Checked {
    for tool in list(body, "tools") {
        let function = &tool["function"];
        check_definition(text(function, "/name"), function.get("parameters"))?;
    }
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in list(body, "messages").iter().enumerate() {
        if message["role"] == "tool" {
            let id = text(message, "/tool_call_id");
            let Some(place) = open.iter().position(|open| *open == id) else {
                return refused(format!(
                    "messages[{index}]: messages with role 'tool' must be a response to a preceeding \
                     message with 'tool_calls'."
                ));
            };
            open.remove(place);
            continue;
        }
        if !open.is_empty() {
            return refused(format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to \
                 each 'tool_call_id': {open:?}"
            ));
        }
        for call in list(message, "tool_calls") {
            let (id, name) = (text(call, "/id"), text(call, "/function/name"));
            if id.is_empty() || id.len() > 40 || open.contains(&id) {
                return refused(format!("Invalid 'messages[{index}].tool_calls.id': '{id}'"));
            }
            let arguments = text(call, "/function/arguments");
            if !is_plain(name, 64) || serde_json::from_str::<Value>(arguments).is_err() {
                return refused(format!(
                    "Invalid 'messages[{index}].tool_calls.function' '{name}'"
                ));
            }
            open.push(id);
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    refused("An assistant message with 'tool_calls' must be followed by tool messages")
}

/// The Responses API.
pub(super) fn openai_responses(body: &Value) -> Checked {
    for tool in list(body, "tools") {
        check_definition(text(tool, "/name"), tool.get("parameters"))?;
    }
    let (mut asked, mut answered) = (HashSet::new(), HashSet::new());
    for item in list(body, "input") {
        let id = text(item, "/call_id");
        let kind = text(item, "/type");
        let is_bad = || id.is_empty() || !is_plain(text(item, "/name"), 64);
        if kind == "function_call" && (is_bad() || !asked.insert(id)) {
            return refused(format!("Invalid function_call '{id}'"));
        }
        if kind == "function_call_output" && (!asked.contains(id) || !answered.insert(id)) {
            return refused(format!(
                "No tool call found for function call output with call_id {id}."
            ));
        }
    }
    match asked.difference(&answered).next() {
        None => Ok(()),
        Some(id) => refused(format!("No tool output found for function call {id}.")),
    }
}

/// Anthropic's messages.
pub(super) fn anthropic(body: &Value) -> Checked {
    for tool in list(body, "tools") {
        check_definition(text(tool, "/name"), tool.get("input_schema"))?;
        check_property_names(&tool["input_schema"])?;
    }
    let mut open: Vec<&str> = Vec::new();
    let mut used = HashSet::new();
    for (index, message) in list(body, "messages").iter().enumerate() {
        let blocks = list(message, "content");
        let is_result = |block: &&Value| block["type"] == "tool_result";
        let results: Vec<&str> = blocks
            .iter()
            .take_while(is_result)
            .map(|block| text(block, "/tool_use_id"))
            .collect();
        if blocks.iter().filter(is_result).count() != results.len() {
            return refused(format!(
                "messages.{index}: `tool_result` blocks must come first"
            ));
        }
        if let Some(id) = open.iter().find(|id| !results.contains(id)) {
            return refused(format!(
                "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}."
            ));
        }
        if results.len() != open.len() {
            return refused(format!(
                "messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks"
            ));
        }
        open.clear();
        for block in blocks {
            match text(block, "/type") {
                "text" if text(block, "/text").trim().is_empty() => {
                    return refused("text content blocks must be non-empty");
                }
                "tool_use" => {
                    let (id, name) = (text(block, "/id"), text(block, "/name"));
                    if !is_plain(id, 64) || !used.insert(id) {
                        return refused(format!("`tool_use` ids must be unique: '{id}'"));
                    }
                    if !is_plain(name, 64) || !block["input"].is_object() {
                        return refused(format!("messages.{index}: tool_use.input '{name}'"));
                    }
                    open.push(id);
                }
                _ => {}
            }
        }
    }
    if !open.is_empty() {
        return refused("`tool_use` ids were found without `tool_result` blocks immediately after");
    }
    if !used.is_empty() && list(body, "tools").is_empty() {
        return refused(
            "Requests which include `tool_use` or `tool_result` blocks must define tools",
        );
    }
    Ok(())
}

/// Gemini's contents. `path` names the model.
pub(super) fn gemini(body: &Value, path: &str) -> Checked {
    let declared = list(body, "tools")
        .iter()
        .flat_map(|tool| list(tool, "functionDeclarations"));
    let mut offers = false;
    for function in declared {
        offers = true;
        check_definition(
            text(function, "/name"),
            function.get("parametersJsonSchema"),
        )?;
    }
    let is_old = path.contains("gemini-2");
    if offers && is_old && text(body, "/generationConfig/responseMimeType") == "application/json" {
        return refused(
            "Function calling with a response mime type: 'application/json' is unsupported",
        );
    }
    let mut open: Vec<&str> = Vec::new();
    for content in list(body, "contents") {
        let parts = list(content, "parts");
        let named = |kind: &'static str| {
            let named = parts.iter().filter_map(move |part| part.get(kind));
            named.map(|part| text(part, "/name")).collect::<Vec<&str>>()
        };
        if named("functionResponse") != open {
            return refused(
                "Please ensure that the number of function response parts is equal to the number of \
                 function call parts of the function call turn.",
            );
        }
        open = named("functionCall");
        if parts.is_empty() || open.iter().any(|name| !is_plain(name, 64)) {
            return refused("GenerateContentRequest.contents: parts must not be empty");
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    refused(
        "Please ensure that function call turn comes immediately before a function response turn.",
    )
}
