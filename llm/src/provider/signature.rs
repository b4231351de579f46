//! What providers want to see again with a request for a tool.
//!
//! It is kept as text that names its provider: a conversation may continue with another provider, which would refuse
//! it.

use interrupt_router::model::ToolRequest;
use serde_json::Value;

const ANTHROPIC: &str = "anthropic:";
const GEMINI: &str = "gemini:";
const RESPONSES: &str = "responses:";
const REASONING: &str = "reasoning:";

/// What goes back, unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signature {
    /// A whole block of thought, of Anthropic.
    Anthropic(Value),
    /// The signature of a part, of Gemini.
    Gemini(String),
    /// An encrypted item of reasoning, of the Responses API.
    Responses(String),
    /// The reasoning itself, as some servers of chat completions want it.
    Reasoning(String),
}

impl Signature {
    /// As it is kept.
    pub(crate) fn kept(&self) -> String {
        match self {
            Self::Anthropic(block) => format!("{ANTHROPIC}{block}"),
            Self::Gemini(signature) => format!("{GEMINI}{signature}"),
            Self::Responses(encrypted) => format!("{RESPONSES}{encrypted}"),
            Self::Reasoning(text) => format!("{REASONING}{text}"),
        }
    }

    /// What is kept with a request; unknown forms are left out.
    pub(crate) fn all_of(request: &ToolRequest) -> impl Iterator<Item = Self> {
        request.signatures.iter().filter_map(|kept| {
            let after = |form: &str| kept.strip_prefix(form).map(str::to_owned);
            if let Some(block) = kept.strip_prefix(ANTHROPIC) {
                return serde_json::from_str(block).ok().map(Self::Anthropic);
            }
            after(GEMINI)
                .map(Self::Gemini)
                .or_else(|| after(RESPONSES).map(Self::Responses))
                .or_else(|| after(REASONING).map(Self::Reasoning))
        })
    }
}
