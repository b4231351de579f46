//! What a model is called on the command line: `PROVIDER:NAME`.

use std::fmt::{self, Display};
use std::str::FromStr;

use genai::adapter::AdapterKind;
use interrupt_router::schema::Dialect;

use super::wire::{Form, Wire};

/// Who serves a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Provider {
    kind: AdapterKind,
}

impl Provider {
    /// OpenAI, and every server that speaks its chat completions.
    pub const OPENAI: Self = Self::of(AdapterKind::OpenAI);

    /// OpenAI's Responses API.
    pub const OPENAI_RESPONSES: Self = Self::of(AdapterKind::OpenAIResp);

    /// Anthropic.
    pub const ANTHROPIC: Self = Self::of(AdapterKind::Anthropic);

    /// Google's Gemini.
    pub const GEMINI: Self = Self::of(AdapterKind::Gemini);

    /// A local Ollama server.
    pub const OLLAMA: Self = Self::of(AdapterKind::Ollama);

    const fn of(kind: AdapterKind) -> Self {
        Self { kind }
    }

    /// All that are known.
    pub fn all() -> impl Iterator<Item = Self> {
        AdapterKind::all().iter().copied().map(Self::of)
    }

    /// The environment variable in which its key is looked for; `None` where it needs no key.
    pub fn key_variable(self) -> Option<&'static str> {
        if self.kind == AdapterKind::OpenRouter {
            // As its own documentation and other programs call it; the client library does not.
            return Some("OPENROUTER_API_KEY");
        }
        self.kind.default_key_env_name()
    }

    /// Whether its servers are one's own: which dialect they take is asked.
    pub fn is_local(self) -> bool {
        matches!(self.kind, AdapterKind::Ollama | AdapterKind::Omlx)
    }

    /// The dialect in which it takes schemas.
    pub fn dialect(self) -> Dialect {
        self.wire().dialect()
    }

    /// How it is spoken to.
    pub(crate) fn wire(self) -> Wire {
        Wire::of(self.kind)
    }

    pub(crate) fn form_and_kind(self) -> (Form, AdapterKind) {
        (self.form(), self.kind)
    }

    /// How it takes tools. For some, only the client library knows.
    pub(crate) fn tool_wire(self) -> Wire {
        match (self.form(), self.wire()) {
            (Form::Library, _) => Wire::Instructions,
            (Form::Anthropic, _) => Wire::Anthropic,
            (Form::ChatCompletions, Wire::Instructions) => Wire::ChatCompletions,
            (Form::ChatCompletions | Form::Responses | Form::Gemini, wire) => wire,
        }
    }

    /// The form in which it takes calls and answers them.
    pub(crate) fn form(self) -> Form {
        Form::of(self.kind)
    }

    /// What OpenTelemetry's conventions call it, and its own name where they have none.
    pub(crate) fn conventional_name(self) -> &'static str {
        // The client library's list grows; a new provider is called by its own name.
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "who is not named by the conventions is called by its own name"
        )]
        match self.kind {
            AdapterKind::OpenAI | AdapterKind::OpenAIResp => "openai",
            AdapterKind::Gemini | AdapterKind::GeminiIx => "gcp.gemini",
            AdapterKind::Vertex => "gcp.vertex_ai",
            AdapterKind::BedrockApi => "aws.bedrock",
            AdapterKind::Mistral => "mistral_ai",
            AdapterKind::Xai => "x_ai",
            other => other.as_lower_str(),
        }
    }

    /// The adapter that knows its address, and speaks to it if that is in a form of its own.
    ///
    /// Ollama is spoken to in OpenAI's form, for its own has no place for a schema in the client
    /// library.
    pub(crate) fn adapter(self) -> AdapterKind {
        if self.kind == AdapterKind::Ollama {
            AdapterKind::OpenAI
        } else {
            self.kind
        }
    }

    /// Its address, if that is not what its adapter says.
    pub(crate) fn own_base_url(self) -> Option<&'static str> {
        (self.kind == AdapterKind::Ollama).then_some("http://localhost:11434/v1/")
    }
}

impl Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind.as_lower_str())
    }
}

impl FromStr for Provider {
    type Err = ParseModelIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        AdapterKind::from_lower_str(text)
            .map(Self::of)
            .ok_or_else(|| ParseModelIdError::UnknownProvider {
                given: text.to_owned(),
                known: Self::all().map(|known| known.to_string()).collect(),
            })
    }
}

/// A model by its provider and its name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelId {
    /// Who serves it.
    pub provider: Provider,
    /// What it is called there. May itself have colons.
    pub model: String,
}

/// A text that names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseModelIdError {
    /// There is no colon, or nothing on one of its sides.
    #[error("`{given}` names no model; expected PROVIDER:NAME, such as openai:gpt-4o-mini")]
    NoName {
        /// What was given.
        given: String,
    },
    /// No provider of this name is known.
    #[error("unknown provider `{given}`; known are: {}", known.join(", "))]
    UnknownProvider {
        /// What was given.
        given: String,
        /// The known providers.
        known: Vec<String>,
    },
}

impl FromStr for ModelId {
    type Err = ParseModelIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((provider, model)) if !provider.is_empty() && !model.trim().is_empty() => {
                Ok(Self {
                    provider: provider.parse()?,
                    model: model.to_owned(),
                })
            }
            _ => Err(ParseModelIdError::NoName {
                given: text.to_owned(),
            }),
        }
    }
}

impl Display for ModelId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.provider, self.model)
    }
}
