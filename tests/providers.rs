//! Local servers that speak the providers' wire forms, and refuse what those providers refuse.
//!
//! A double answers each request with the next of its [`Behaviour`]s (the last one stays), keeps what
//! it received, and tells when a client hung up before it had the whole answer.

mod anthropic;
mod behaviour;
mod cancellations;
mod gemini;
mod hang_up;
mod openai;
mod openai_responses;
mod part;
mod refusal;
mod schema_rules;
mod server;
mod transport;

pub use behaviour::Behaviour;
use behaviour::Ending;
pub use cancellations::{CancelAnswer, Cancellations};
pub use hang_up::HangUps;
pub use part::Received;
pub use refusal::Refusal;
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
        }
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

    /// The events after the text, which say why it ends.
    fn closing(self, ending: Ending) -> Vec<String> {
        match self {
            Self::OpenAi => openai::closing(ending),
            Self::OpenAiResponses => openai_responses::closing(ending),
            Self::Anthropic => anthropic::closing(ending),
            Self::Gemini => gemini::closing(ending),
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

/// One event of a stream, named where it has a name.
fn event(name: Option<&str>, data: &str) -> String {
    match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}
