//! Local servers that speak the providers' wire forms, and refuse what those providers refuse.
//!
//! A double answers each request with the next of its [`Behaviour`]s (the last one stays), keeps what
//! it received, and tells when a client hung up before it had the whole answer.

mod accepted;
mod anthropic;
mod behaviour;
mod cancellations;
mod gemini;
mod hang_up;
mod openai;
mod openai_responses;
mod part;
mod refusal;
mod said;
mod schema_rules;
mod server;
mod tool_rules;
mod transport;

pub use behaviour::Behaviour;
use behaviour::Ending;
pub use cancellations::{CancelAnswer, Cancellations};
pub use hang_up::HangUps;
pub use part::Received;
pub use refusal::Refusal;
pub use said::{Said, SaidCall};
pub use server::ProviderDouble;
pub use transport::Transport;

/// The key that a double takes; any other is refused.
pub const RIGHT_KEY: &str = "test-key-0123456789";

/// Which provider's form is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireForm {
    /// OpenAI's chat completions.
    OpenAi,
    /// OpenAI's Responses API.
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `streamGenerateContent`.
    Gemini,
}

impl WireForm {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
    ];

    /// Refuses a request that the provider refuses.
    fn check(self, received: &Received) -> Result<(), Refusal> {
        match self {
            Self::OpenAi => openai::check(received),
            Self::OpenAiResponses => openai_responses::check(received),
            Self::Anthropic => anthropic::check(received),
            Self::Gemini => gemini::check(received),
        }?;
        accepted::check(self, &received.body)
    }

    /// The body of a refusal, in the provider's shape.
    fn error_body(self, status: u16, message: &str) -> String {
        match self {
            Self::OpenAi | Self::OpenAiResponses => openai::error_body(status, message),
            Self::Anthropic => anthropic::error_body(status, message),
            Self::Gemini => gemini::error_body(status, message),
        }
    }

    /// The events before the text, with the cost of reading, for the request of this number.
    fn opening(self, number: usize) -> Vec<String> {
        match self {
            Self::OpenAi => openai::opening(),
            Self::OpenAiResponses => openai_responses::opening(number),
            Self::Anthropic => anthropic::opening(),
            Self::Gemini => Vec::new(),
        }
    }

    /// One piece of the text.
    fn piece(self, text: &str) -> String {
        match self {
            Self::OpenAi => openai::piece(text),
            Self::OpenAiResponses => openai_responses::piece(text),
            Self::Anthropic => anthropic::piece(text),
            Self::Gemini => gemini::piece(text),
        }
    }

    /// The events after the text: the tools that are asked for, and why the answer ends.
    fn closing(self, calls: &[SaidCall], ending: Ending) -> Vec<String> {
        match self {
            Self::OpenAi => openai::closing(calls, ending),
            Self::OpenAiResponses => openai_responses::closing(calls, ending),
            Self::Anthropic => anthropic::closing(calls, ending),
            Self::Gemini => gemini::closing(calls, ending),
        }
    }

    /// An error in the midst of the stream: the provider is overloaded.
    fn error_event(self) -> String {
        match self {
            Self::OpenAi => openai::error_event(),
            Self::OpenAiResponses => openai_responses::error_event(),
            Self::Anthropic => anthropic::error_event(),
            Self::Gemini => gemini::error_event(),
        }
    }

    /// What a request's user messages say, in order.
    pub fn user_texts(self, body: &serde_json::Value) -> Vec<String> {
        let (list, parts) = match self {
            Self::OpenAi | Self::Anthropic => ("messages", "content"),
            Self::OpenAiResponses => ("input", "content"),
            Self::Gemini => ("contents", "parts"),
        };
        let messages = body.get(list).and_then(serde_json::Value::as_array);
        let said = messages.into_iter().flatten();
        said.filter(|message| message["role"] == "user")
            .filter_map(|message| message.get(parts))
            .map(|content| {
                let whole = content.as_str().map(str::to_owned);
                let texts = content.as_array().into_iter().flatten();
                whole.unwrap_or_else(|| texts.filter_map(|part| part["text"].as_str()).collect())
            })
            // Results of tools are the user's turn with some providers.
            .filter(|text: &String| !text.is_empty())
            .collect()
    }

    /// What came of the tools in a request, in order.
    pub fn tool_results(self, body: &serde_json::Value) -> Vec<String> {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let (list, parts) = match self {
            Self::OpenAi | Self::Anthropic => ("messages", "content"),
            Self::OpenAiResponses => ("input", "content"),
            Self::Gemini => ("contents", "parts"),
        };
        let messages = body.get(list).and_then(serde_json::Value::as_array);
        let said = messages.into_iter().flatten();
        said.flat_map(|message| match self {
            Self::OpenAi if message["role"] == "tool" => vec![text(&message["content"])],
            Self::OpenAiResponses if message["type"] == "function_call_output" => {
                vec![text(&message["output"])]
            }
            Self::OpenAi | Self::OpenAiResponses => Vec::new(),
            Self::Anthropic | Self::Gemini => {
                let blocks = message[parts].as_array().into_iter().flatten();
                let result = |block: &serde_json::Value| match self {
                    Self::Anthropic if block["type"] == "tool_result" => {
                        Some(text(&block["content"]))
                    }
                    Self::Gemini => block
                        .pointer("/functionResponse/response/content")
                        .map(text),
                    Self::Anthropic | Self::OpenAi | Self::OpenAiResponses => None,
                };
                blocks.filter_map(result).collect()
            }
        })
        .collect()
    }

    /// The structured-output schema of a request, where it has one.
    pub fn schema(self, body: &serde_json::Value) -> Option<&serde_json::Value> {
        body.pointer(match self {
            Self::OpenAi => "/response_format/json_schema/schema",
            Self::OpenAiResponses => "/text/format/schema",
            Self::Anthropic => "/output_config/format/schema",
            Self::Gemini => "/generationConfig/responseJsonSchema",
        })
    }
}

/// A text in pieces of a few characters each; a long one in larger ones, for the client reads all that came so far
/// again with each.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let length = (text.len() / 1_000).max(5);
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .char_indices()
            .nth(length)
            .map_or(rest.len(), |(end, _)| end);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The arguments of the call at `index` of these as far as they are sent: an answer that is cut off ends in
/// the midst of its last call.
fn sent_arguments(calls: &[SaidCall], index: usize, ending: Ending) -> (&str, bool) {
    let arguments = calls[index].arguments.as_str();
    let is_cut = ending == Ending::CutOff && index + 1 == calls.len();
    let half = arguments.get(..arguments.len() / 2).unwrap_or_default();
    (if is_cut { half } else { arguments }, is_cut)
}

/// One event of a stream, named where it has a name.
fn event(name: Option<&str>, data: &str) -> String {
    match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}
