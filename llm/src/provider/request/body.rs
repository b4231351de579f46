//! A call as a provider's form has it: the path, the headers and the body.

use std::collections::HashMap;

use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ChatRole, ContentPart, ToolCall,
};
use serde_json::{Map, Value, json};

use super::super::Secret;
use super::super::wire::Form;

const ANTHROPIC_VERSION: &str = "2023-06-01";

/// What Gemini's third generation takes where the first call of a turn came from elsewhere and has no signature.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// What is posted.
#[derive(Debug)]
pub(crate) struct Posted {
    /// Below the base URL.
    pub(crate) path: String,
    pub(crate) body: Value,
}

/// The call in one of the forms that are written here; `None` for others.
pub(crate) fn of(
    (form, kind): (Form, AdapterKind),
    model: &str,
    request: &ChatRequest,
    options: &ChatOptions,
) -> Option<Posted> {
    // The client library's names of models have a namespace.
    let model = model.split_once("::").map_or(model, |(_space, name)| name);
    let messages = &request.messages;
    let (path, mut body) = match form {
        Form::ChatCompletions => chat_completions(kind, model, messages, options),
        Form::Responses => responses(model, messages, options),
        Form::Anthropic => anthropic(model, messages, options),
        Form::Gemini => gemini(model, messages, options),
        Form::Library => return None,
    };
    if let Some(Value::Object(more)) = &options.extra_body {
        body.extend(more.clone());
    }
    Some(Posted {
        path,
        body: Value::Object(body),
    })
}

/// How a form takes the key.
pub(crate) fn headers(form: Form, key: &Secret) -> Vec<(&'static str, String)> {
    let key = key.reveal();
    match form {
        Form::ChatCompletions | Form::Responses | Form::Library => {
            vec![("authorization", format!("Bearer {key}"))]
        }
        Form::Anthropic => vec![
            ("x-api-key", key.to_owned()),
            ("anthropic-version", ANTHROPIC_VERSION.to_owned()),
        ],
        Form::Gemini => vec![("x-goog-api-key", key.to_owned())],
    }
}

/// An object of these fields, without those that are null.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The texts of a message.
fn texts(message: &ChatMessage, between: &str) -> String {
    message.content.texts().join(between)
}

fn chat_completions(
    kind: AdapterKind,
    model: &str,
    messages: &[ChatMessage],
    options: &ChatOptions,
) -> (String, Map<String, Value>) {
    let messages: Vec<Value> = messages
        .iter()
        .flat_map(|message| chat_message(kind, message))
        .collect();
    let is_fireworks = kind == AdapterKind::Fireworks;
    let format = match options.response_format {
        Some(ChatResponseFormat::JsonMode) => json!({"type": "json_object"}),
        _ => Value::Null,
    };
    let name = if is_fireworks && !model.contains('/') {
        format!("accounts/fireworks/models/{model}")
    } else {
        model.to_owned()
    };
    // Fireworks ends an answer after 2,000 tokens otherwise, and takes more than a model can write.
    let most = options.max_tokens.or(is_fireworks.then(|| {
        let is_small = model.contains("muse-glimmer-30b");
        if is_small { 68_000 } else { 512_000 }
    }));
    let reasons = ["gpt-5", "gpt-6", "o1", "o3", "o4"];
    let most_name = if reasons.iter().any(|start| model.starts_with(start)) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    let body = object([
        ("model", name.into()),
        ("stream", true.into()),
        ("messages", messages.into()),
        ("response_format", format),
        ("stream_options", json!({"include_usage": true})),
        ("temperature", json!(options.temperature)),
        (most_name, json!(most)),
    ]);
    ("chat/completions".to_owned(), body)
}

fn chat_message(kind: AdapterKind, message: &ChatMessage) -> Vec<Value> {
    let text = texts(message, "\n\n");
    match message.role {
        ChatRole::System => vec![json!({"role": "system", "content": text})],
        ChatRole::User => vec![json!({"role": "user", "content": text})],
        ChatRole::Assistant => {
            let calls: Vec<Value> = message
                .content
                .tool_calls()
                .into_iter()
                .map(called)
                .collect();
            let mut answer = object([("role", "assistant".into()), ("content", text.into())]);
            if !calls.is_empty() {
                answer.insert("tool_calls".to_owned(), calls.into());
            }
            let reasoning = message.content.reasoning_contents().join("\n");
            // Mistral takes no such field.
            if !reasoning.is_empty() && kind != AdapterKind::Mistral {
                answer.insert("reasoning_content".to_owned(), reasoning.into());
            }
            vec![Value::Object(answer)]
        }
        ChatRole::Tool => {
            let results = message.content.tool_responses().into_iter();
            results
                .map(|result| {
                    json!({"role": "tool", "content": result.content, "tool_call_id": result.call_id})
                })
                .collect()
        }
    }
}

fn called(call: &ToolCall) -> Value {
    let function = json!({"name": call.fn_name, "arguments": call.fn_arguments.to_string()});
    json!({"type": "function", "id": call.call_id, "function": function})
}

fn responses(
    model: &str,
    messages: &[ChatMessage],
    options: &ChatOptions,
) -> (String, Map<String, Value>) {
    let input: Vec<Value> = messages.iter().flat_map(response_items).collect();
    let body = object([
        ("store", false.into()),
        ("model", model.into()),
        ("stream", true.into()),
        ("input", input.into()),
        ("temperature", json!(options.temperature)),
        ("max_output_tokens", json!(options.max_tokens)),
    ]);
    ("responses".to_owned(), body)
}

fn response_items(message: &ChatMessage) -> Vec<Value> {
    let text = texts(message, "\n\n");
    match message.role {
        ChatRole::System => vec![json!({"role": "system", "content": text})],
        ChatRole::User => vec![json!({"role": "user", "content": text})],
        ChatRole::Assistant => {
            let thoughts = message.content.thought_signatures().into_iter();
            let mut items: Vec<Value> = thoughts
                .map(|thought| json!({"type": "reasoning", "encrypted_content": thought, "summary": []}))
                .collect();
            if !text.is_empty() {
                let parts = json!([{"type": "output_text", "text": text}]);
                items.push(json!({"type": "message", "role": "assistant", "content": parts}));
            }
            items.extend(message.content.tool_calls().into_iter().map(|call| {
                json!({"type": "function_call", "call_id": call.call_id, "name": call.fn_name,
                    "arguments": call.fn_arguments.to_string()})
            }));
            items
        }
        ChatRole::Tool => {
            let results = message.content.tool_responses().into_iter();
            results
                .map(|result| {
                    json!({"type": "function_call_output", "call_id": result.call_id,
                        "output": result.content})
                })
                .collect()
        }
    }
}

fn anthropic(
    model: &str,
    messages: &[ChatMessage],
    options: &ChatOptions,
) -> (String, Map<String, Value>) {
    let (systems, said): (Vec<&ChatMessage>, Vec<&ChatMessage>) = messages
        .iter()
        .partition(|message| message.role == ChatRole::System);
    let system: Vec<String> = systems
        .into_iter()
        .map(|message| texts(message, "\n\n"))
        .collect();
    let system = (!system.is_empty()).then(|| system.join("\n\n"));
    let said: Vec<Value> = said.into_iter().map(anthropic_message).collect();
    let most = options.max_tokens.unwrap_or_else(|| anthropic_most(model));
    let body = object([
        ("model", model.into()),
        ("stream", true.into()),
        ("system", json!(system)),
        ("messages", said.into()),
        ("temperature", json!(options.temperature)),
        ("max_tokens", most.into()),
    ]);
    ("messages".to_owned(), body)
}

fn anthropic_message(message: &ChatMessage) -> Value {
    let role = if message.role == ChatRole::Assistant {
        "assistant"
    } else {
        "user"
    };
    if message.content.is_text_only() {
        return json!({"role": role, "content": texts(message, "\n\n")});
    }
    // Thought comes before everything else.
    let (thoughts, others): (Vec<&ContentPart>, Vec<&ContentPart>) = message
        .content
        .iter()
        .partition(|part| matches!(part, ContentPart::Custom(_)));
    let blocks: Vec<Value> = thoughts
        .into_iter()
        .chain(others)
        .filter_map(anthropic_block)
        .collect();
    json!({"role": role, "content": blocks})
}

fn anthropic_block(part: &ContentPart) -> Option<Value> {
    Some(match part {
        ContentPart::Text(text) => json!({"type": "text", "text": text}),
        ContentPart::ToolCall(call) => json!({"type": "tool_use", "id": call.call_id,
            "name": call.fn_name, "input": call.fn_arguments}),
        ContentPart::ToolResponse(result) => json!({"type": "tool_result",
            "content": result.content, "tool_use_id": result.call_id}),
        ContentPart::Custom(block) => block.data.clone(),
        ContentPart::Binary(_)
        | ContentPart::ThoughtSignature(_)
        | ContentPart::ReasoningContent(_) => return None,
    })
}

/// The most that a model of Anthropic's can write, which has to be said with each call.
fn anthropic_most(model: &str) -> u32 {
    let mut parts = model.split('-').skip(1);
    let family = parts.next().unwrap_or_default();
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
    // A longer number is a date.
    let mut version = || number().filter(|number| *number < 100).unwrap_or_default();
    let version = (version(), version());
    let has = |names: &[&str]| names.iter().any(|name| model.contains(name));
    match family {
        "opus" if version >= (4, 8) => 128_000,
        "opus" if (4, 0) <= version && version < (4, 5) => 32_000,
        "haiku" if version >= (5, 0) => 128_000,
        "fable" | "mythos" => 128_000,
        _ if has(&["claude-3-5"]) => 8_192,
        _ if has(&["3-opus", "3-haiku", "opus-3"]) => 4_096,
        _ => 64_000,
    }
}

fn gemini(
    model: &str,
    messages: &[ChatMessage],
    options: &ChatOptions,
) -> (String, Map<String, Value>) {
    let mut names = HashMap::new();
    let mut systems = Vec::new();
    let mut contents: Vec<Value> = Vec::new();
    for message in messages {
        for call in message.content.tool_calls() {
            names.insert(call.call_id.as_str(), call.fn_name.as_str());
        }
        let parts = match message.role {
            ChatRole::System => {
                systems.push(texts(message, "\n\n"));
                continue;
            }
            ChatRole::User | ChatRole::Tool | ChatRole::Assistant => {
                gemini_parts(message, model, &names)
            }
        };
        let role = if message.role == ChatRole::Assistant {
            "model"
        } else {
            "user"
        };
        if !parts.is_empty() {
            contents.push(json!({"role": role, "parts": parts}));
        }
    }
    let schema = match &options.response_format {
        Some(ChatResponseFormat::JsonSpec(spec)) => spec.schema.clone(),
        _ => Value::Null,
    };
    let kind = if schema.is_null() {
        Value::Null
    } else {
        "application/json".into()
    };
    let config = object([
        ("responseMimeType", kind),
        ("responseJsonSchema", schema),
        ("temperature", json!(options.temperature)),
        ("maxOutputTokens", json!(options.max_tokens)),
    ]);
    let config = if config.is_empty() {
        Value::Null
    } else {
        config.into()
    };
    let system = (!systems.is_empty()).then(|| json!({"parts": [{"text": systems.join("\n")}]}));
    let body = object([
        ("systemInstruction", json!(system)),
        ("contents", contents.into()),
        ("generationConfig", config),
    ]);
    (
        format!("models/{model}:streamGenerateContent?alt=sse"),
        body,
    )
}

fn gemini_parts(message: &ChatMessage, model: &str, names: &HashMap<&str, &str>) -> Vec<Value> {
    let mut needs_signature = model.contains("gemini-3");
    let with_id = |id: &str, mut said: Value| {
        if !id.is_empty() {
            said["id"] = id.into();
        }
        said
    };
    let parts = message.content.iter().filter_map(|part| match part {
        ContentPart::Text(text) => Some(json!({ "text": text })),
        ContentPart::ToolCall(call) => {
            let said = json!({"name": call.fn_name, "args": call.fn_arguments});
            let mut part = json!({"functionCall": with_id(&call.call_id, said)});
            let own = call.thought_signatures.as_ref().and_then(|all| all.first());
            let placeholder = needs_signature.then_some(NO_SIGNATURE);
            if let Some(signature) = own.map(String::as_str).or(placeholder) {
                part["thoughtSignature"] = signature.into();
            }
            needs_signature = false;
            Some(part)
        }
        ContentPart::ToolResponse(result) => {
            let id = result.call_id.as_str();
            let name = result.fn_name.as_deref().or(names.get(id).copied());
            let name = name.unwrap_or(id);
            let response = json!({"name": name, "content": result.content});
            let said = json!({"name": name, "response": response});
            let id = if names.contains_key(id) { id } else { "" };
            Some(json!({"functionResponse": with_id(id, said)}))
        }
        ContentPart::Binary(_)
        | ContentPart::ThoughtSignature(_)
        | ContentPart::ReasoningContent(_)
        | ContentPart::Custom(_) => None,
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::anthropic_most;

    #[test]
    fn each_of_anthropics_models_is_asked_for_as_much_as_it_writes() {
        for (model, most) in [
            ("claude-opus-4-8", 128_000),
            ("claude-opus-4-5-20251101", 64_000),
            ("claude-opus-4-20250514", 32_000),
            ("claude-opus-4-1", 32_000),
            ("claude-sonnet-4-5", 64_000),
            ("claude-haiku-5", 128_000),
            ("claude-fable-5-1", 128_000),
            ("claude-3-7-sonnet-latest", 64_000),
            ("claude-3-5-haiku-latest", 8_192),
            ("claude-3-opus-20240229", 4_096),
            ("some-model", 64_000),
        ] {
            assert_eq!(anthropic_most(model), most, "{model}");
        }
    }
}
