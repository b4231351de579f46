//! A call in the provider's form.

mod tools;
mod transcript;

use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, JsonSpec, ReasoningEffort,
};
use routing_core::model::{Message, ModelCall, ToolOffer};
use routing_core::schema::AnswerSchema;
use serde_json::{Map, Value, json};

use super::wire::Wire;
use super::{CallLimits, Provider};
use crate::chat::ChatCall;

/// The request and the options of a call.
pub(crate) fn of(
    call: &ModelCall,
    provider: Provider,
    model: &str,
    limits: &CallLimits,
) -> (ChatRequest, ChatOptions) {
    let schema = &*call.schema;
    let wire = provider.wire();
    let structured = if call.tools.is_empty() || wire.takes_schema_beside_tools(model) {
        structured_output(wire, schema)
    } else {
        Structured::Instructions
    };
    let mut first = Vec::new();
    let mut body = Map::new();
    let mut options = options(provider, model, limits);
    match structured {
        Structured::Body(schema) => body.extend(schema),
        Structured::Format(format) => options = options.with_response_format(format),
        Structured::FormatAndInstructions(format) => {
            first.push(ChatMessage::system(instructions(schema)));
            options = options.with_response_format(format);
        }
        Structured::Instructions => first.push(ChatMessage::system(instructions(schema))),
    }
    let said = (call.messages.as_slice(), &*call.tools);
    request(said, provider, first, (body, options))
}

/// The request and the options of a call for free text.
pub(crate) fn of_chat(
    call: &ChatCall,
    provider: Provider,
    model: &str,
    limits: &CallLimits,
) -> (ChatRequest, ChatOptions) {
    let options = options(provider, model, limits);
    let said = (call.messages.as_slice(), &*call.tools);
    request(said, provider, Vec::new(), (Map::new(), options))
}

/// A conversation with its tools, after messages that come first.
fn request(
    (messages, offers): (&[Message], &[ToolOffer]),
    provider: Provider,
    first: Vec<ChatMessage>,
    (mut body, options): (Map<String, Value>, ChatOptions),
) -> (ChatRequest, ChatOptions) {
    let mut said = first;
    let wire = provider.tool_wire();
    said.extend(transcript::of(messages, provider.wire()));
    let mut request = ChatRequest::new(said);
    if let Some(tools) = tools::through_library(offers, wire) {
        request = request.with_tools(tools);
    }
    body.extend(tools::body(offers, messages, wire));
    let options = if body.is_empty() {
        options
    } else {
        options.with_extra_body(Value::Object(body))
    };
    (request, options)
}

fn options(provider: Provider, model: &str, limits: &CallLimits) -> ChatOptions {
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_stream_header_timeout(limits.headers)
        .with_stream_read_timeout(limits.silence);
    // The client library takes a name such as `qwen-max` for `qwen` with an effort. An effort of a
    // budget keeps it from that, and is not sent in this form.
    let reads_effort = ReasoningEffort::from_model_name(model).0.is_some();
    if reads_effort && matches!(provider.wire(), Wire::OpenAi | Wire::ChatCompletions) {
        options = options.with_reasoning_effort(ReasoningEffort::Budget(0));
    }
    // Of those whose events nobody here reads, the library says at the end what was asked for.
    options.with_capture_tool_calls(provider.tells_tools_at_end())
}

/// Asks for an answer that is made in the background, which is stored for as long as that takes.
pub(crate) fn in_background(options: ChatOptions) -> ChatOptions {
    let mut body = json!({ "background": true, "store": true });
    if let (Value::Object(body), Some(Value::Object(other))) = (&mut body, &options.extra_body) {
        body.extend(other.clone());
    }
    options.with_extra_body(body)
}

/// Where the schema goes.
enum Structured {
    /// Into the body as it is, past the client library's own changes to schemas.
    Body(Map<String, Value>),
    /// Through the client library, which leaves it as it is.
    Format(ChatResponseFormat),
    /// Into the instructions, and through the client library that the answer is JSON.
    FormatAndInstructions(ChatResponseFormat),
    /// Into the instructions alone.
    Instructions,
}

fn structured_output(wire: Wire, schema: &AnswerSchema) -> Structured {
    let field = |name: &str, value| Structured::Body(Map::from_iter([(name.to_owned(), value)]));
    let json_schema = |strict: bool| {
        let named = json!({ "name": schema.name(), "strict": strict, "schema": schema.value() });
        let format = json!({ "type": "json_schema", "json_schema": named });
        field("response_format", format)
    };
    match wire {
        Wire::OpenAi => json_schema(true),
        Wire::ChatCompletions => json_schema(false),
        Wire::Anthropic => {
            let format = json!({ "type": "json_schema", "schema": schema.value() });
            field("output_config", json!({ "format": format }))
        }
        Wire::OpenAiResponses => {
            let format = json!({ "type": "json_schema", "name": schema.name(), "strict": true,
                "schema": schema.value() });
            field("text", json!({ "format": format }))
        }
        Wire::Gemini => Structured::Format(ChatResponseFormat::JsonSpec(JsonSpec::new(
            schema.name(),
            schema.value().clone(),
        ))),
        Wire::JsonObject => Structured::FormatAndInstructions(ChatResponseFormat::JsonMode),
        Wire::Instructions => Structured::Instructions,
    }
}

fn instructions(schema: &AnswerSchema) -> String {
    format!(
        "Answer with one JSON object and nothing else: no explanation, no code fence. It must satisfy \
         this JSON schema:\n{}",
        schema.text()
    )
}
