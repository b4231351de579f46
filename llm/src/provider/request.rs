//! A call in the provider's form.

use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, JsonSpec, ReasoningEffort,
};
use routing_core::model::{Message, ModelCall, Role};
use routing_core::schema::AnswerSchema;
use serde_json::{Value, json};

use super::wire::Wire;
use super::{CallLimits, Provider};

/// The request and the options of a call.
pub(crate) fn of(
    call: &ModelCall,
    provider: Provider,
    model: &str,
    limits: &CallLimits,
) -> (ChatRequest, ChatOptions) {
    let schema = &*call.schema;
    let wire = provider.wire();
    let (mut messages, options) = of_messages(&call.messages, provider, model, limits);
    if matches!(wire, Wire::JsonObject | Wire::Instructions) {
        messages.insert(0, ChatMessage::system(instructions(schema)));
    }
    let options = match structured_output(wire, schema) {
        Structured::Body(body) => options.with_extra_body(body),
        Structured::Format(format) => options.with_response_format(format),
        Structured::None => options,
    };
    (ChatRequest::new(messages), options)
}

/// The request and the options of a call for free text.
pub(crate) fn of_chat(
    messages: &[Message],
    provider: Provider,
    model: &str,
    limits: &CallLimits,
) -> (ChatRequest, ChatOptions) {
    let (messages, options) = of_messages(messages, provider, model, limits);
    (ChatRequest::new(messages), options)
}

fn of_messages(
    messages: &[Message],
    provider: Provider,
    model: &str,
    limits: &CallLimits,
) -> (Vec<ChatMessage>, ChatOptions) {
    let messages = messages
        .iter()
        .map(|message| match message.role {
            Role::System => ChatMessage::system(message.text.as_str()),
            Role::User => ChatMessage::user(message.text.as_str()),
            Role::Assistant => ChatMessage::assistant(message.text.as_str()),
            Role::Tool => ChatMessage::tool(message.text.as_str()),
        })
        .collect();
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
    (messages, options)
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
    Body(Value),
    /// Through the client library, which leaves it as it is.
    Format(ChatResponseFormat),
    /// Nowhere.
    None,
}

fn structured_output(wire: Wire, schema: &AnswerSchema) -> Structured {
    let json_schema = |strict: bool| {
        let named = json!({ "name": schema.name(), "strict": strict, "schema": schema.value() });
        json!({ "response_format": { "type": "json_schema", "json_schema": named } })
    };
    match wire {
        Wire::OpenAi => Structured::Body(json_schema(true)),
        Wire::ChatCompletions => Structured::Body(json_schema(false)),
        Wire::Anthropic => {
            let format = json!({ "type": "json_schema", "schema": schema.value() });
            Structured::Body(json!({ "output_config": { "format": format } }))
        }
        Wire::OpenAiResponses => {
            let format = json!({ "type": "json_schema", "name": schema.name(), "strict": true,
                "schema": schema.value() });
            Structured::Body(json!({ "text": { "format": format } }))
        }
        Wire::Gemini => Structured::Format(ChatResponseFormat::JsonSpec(JsonSpec::new(
            schema.name(),
            schema.value().clone(),
        ))),
        Wire::JsonObject => Structured::Format(ChatResponseFormat::JsonMode),
        Wire::Instructions => Structured::None,
    }
}

fn instructions(schema: &AnswerSchema) -> String {
    format!(
        "Answer with one JSON object and nothing else: no explanation, no code fence. It must satisfy \
         this JSON schema:\n{}",
        schema.text()
    )
}
