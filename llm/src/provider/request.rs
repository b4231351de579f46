//! A call in the provider's form.

pub(crate) mod body;
mod tools;
mod transcript;

use std::borrow::Cow;

use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, JsonSpec};
use interrupt_router::model::{Message, ModelCall, Role, ToolOffer};
use interrupt_router::schema::{AnswerSchema, Dialect};
use serde_json::{Map, Value, json};

use super::wire::{Form, Wire};
use super::{CallLimits, Provider};

/// How a model is asked, for every call alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner<'m> {
    pub(crate) provider: Provider,
    /// The dialect in which it takes the schemas of tools.
    pub(crate) dialect: Dialect,
    /// What the provider calls the model.
    pub(crate) model: &'m str,
    pub(crate) limits: &'m CallLimits,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) temperature: Option<f64>,
}

/// The request and the options of a call.
pub(crate) fn of(call: &ModelCall, manner: &Manner<'_>) -> (ChatRequest, ChatOptions) {
    let Some(schema) = call.schema.as_deref() else {
        let said = (call.messages.as_slice(), &*call.tools);
        return request(said, manner, Vec::new(), (Map::new(), options(manner)));
    };
    let provider = manner.provider;
    let wire = wire_of(provider, schema);
    let structured = if call.tools.is_empty() || wire.takes_schema_beside_tools(manner.model) {
        structured_output(wire, schema)
    } else {
        Structured::Instructions
    };
    let mut first = Vec::new();
    let mut body = Map::new();
    let mut options = options(manner);
    match structured {
        Structured::Body(schema) => body.extend(schema),
        Structured::Format(format) => options = options.with_response_format(format),
        Structured::FormatAndInstructions(format) => {
            first.push(ChatMessage::system(instructions(schema)));
            options = options.with_response_format(format);
        }
        Structured::Instructions => first.push(ChatMessage::system(instructions(schema))),
    }
    let messages = match wire {
        Wire::ChatCompletions | Wire::JsonObject => in_turns(&call.messages),
        Wire::OpenAi
        | Wire::OpenAiResponses
        | Wire::Anthropic
        | Wire::Gemini
        | Wire::Instructions => Cow::Borrowed(call.messages.as_slice()),
    };
    request((&messages, &call.tools), manner, first, (body, options))
}

/// The conversation in which no role speaks twice in a row: the templates of many open models refuse any other.
fn in_turns(messages: &[Message]) -> Cow<'_, [Message]> {
    let is_one_turn = |first: &Message, second: &Message| {
        first.role == second.role && matches!(first.role, Role::User | Role::System)
    };
    let turns = messages.chunk_by(is_one_turn);
    if turns.clone().all(|turn| turn.len() == 1) {
        return Cow::Borrowed(messages);
    }
    turns
        .filter_map(|turn| {
            let texts: Vec<&str> = turn.iter().map(|message| &*message.text).collect();
            let mut whole = turn.first()?.clone();
            if turn.len() > 1 {
                whole.text = texts.join("\n\n").into();
            }
            Some(whole)
        })
        .collect()
}

/// How the schema is sent: a server that is spoken to like OpenAI and makes a grammar of it is not strict in OpenAI's sense.
fn wire_of(provider: Provider, schema: &AnswerSchema) -> Wire {
    match (provider.wire(), schema.dialect()) {
        (Wire::OpenAi, Dialect::Grammar) => Wire::ChatCompletions,
        (wire, _) => wire,
    }
}

/// A conversation with its tools, after messages that come first.
fn request(
    (messages, offers): (&[Message], &[ToolOffer]),
    manner: &Manner<'_>,
    first: Vec<ChatMessage>,
    (mut body, options): (Map<String, Value>, ChatOptions),
) -> (ChatRequest, ChatOptions) {
    let mut said = first;
    let provider = manner.provider;
    let wire = provider.tool_wire();
    let said_in = match provider.form() {
        Form::Library => provider.wire(),
        Form::ChatCompletions | Form::Responses | Form::Anthropic | Form::Gemini => wire,
    };
    said.extend(transcript::of(messages, said_in));
    let mut request = ChatRequest::new(said);
    let offers = &tools::taken(offers, manner.dialect);
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

fn options(manner: &Manner<'_>) -> ChatOptions {
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_stream_header_timeout(manner.limits.first)
        // The first event may come long after the headers.
        .with_stream_read_timeout(manner.limits.silence.max(manner.limits.first));
    if let Some(most) = manner.max_tokens {
        options = options.with_max_tokens(most);
    }
    if let Some(temperature) = manner.temperature {
        options = options.with_temperature(temperature);
    }
    // Of what the library reads, it says at the end what was asked for.
    options.with_capture_tool_calls(true)
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
