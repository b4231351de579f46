//! How the providers differ: where the schema goes, in which dialect, and at which path.

use genai::adapter::AdapterKind;
use interrupt_router::schema::Dialect;

/// The form in which a provider takes calls and answers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// OpenAI's chat completions, which most others speak too.
    ChatCompletions,
    /// OpenAI's Responses API.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `streamGenerateContent`.
    Gemini,
    /// Another one, which the client library writes and reads.
    Library,
}

impl Form {
    pub(crate) fn of(kind: AdapterKind) -> Self {
        use AdapterKind as Kind;
        match (kind, Wire::of(kind)) {
            (Kind::MiniMax, _) | (_, Wire::Anthropic) => Self::Anthropic,
            (Kind::GeminiIx, _) => Self::Library,
            (_, Wire::Gemini) => Self::Gemini,
            (_, Wire::OpenAiResponses) => Self::Responses,
            (Kind::Custom(_), _) | (_, Wire::OpenAi | Wire::ChatCompletions | Wire::JsonObject) => {
                Self::ChatCompletions
            }
            (_, Wire::Instructions) => Self::Library,
        }
    }
}

/// How a provider takes a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// Chat completions with OpenAI's strict `json_schema`.
    OpenAi,
    /// The Responses API with the same.
    OpenAiResponses,
    /// Chat completions of others: `json_schema`, not strict.
    ChatCompletions,
    /// Chat completions that take only `json_object`: the schema goes into the instructions.
    JsonObject,
    /// Anthropic's messages with `output_config.format`.
    Anthropic,
    /// Gemini's `responseJsonSchema`.
    Gemini,
    /// No structured output that the client library knows: the schema goes into the instructions.
    Instructions,
}

impl Wire {
    pub(crate) fn of(kind: AdapterKind) -> Self {
        use AdapterKind as Kind;
        match kind {
            Kind::OpenAI => Self::OpenAi,
            Kind::OpenAIResp => Self::OpenAiResponses,
            Kind::Anthropic => Self::Anthropic,
            Kind::Gemini | Kind::GeminiIx => Self::Gemini,
            Kind::DeepSeek | Kind::Zai | Kind::BigModel | Kind::Moonshot | Kind::Kimi => {
                Self::JsonObject
            }
            // Ollama is spoken to at its OpenAI-compatible address.
            Kind::Ollama
            | Kind::Fireworks
            | Kind::Together
            | Kind::Groq
            | Kind::Aihubmix
            | Kind::Mimo
            | Kind::Nebius
            | Kind::Xai
            | Kind::Mistral
            | Kind::Aliyun
            | Kind::QwenCloud
            | Kind::Omlx
            | Kind::OpenRouter
            | Kind::AtlasCloud
            | Kind::Requesty
            | Kind::ApiRoute
            | Kind::Heabsy
            | Kind::Runcrate
            | Kind::CloudGpu => Self::ChatCompletions,
            Kind::Baidu
            | Kind::Cohere
            | Kind::OllamaCloud
            | Kind::Vertex
            | Kind::GithubCopilot
            | Kind::OpenCodeGo
            | Kind::BedrockApi
            | Kind::MiniMax
            | Kind::Custom(_) => Self::Instructions,
        }
    }

    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::OpenAi | Self::OpenAiResponses => Dialect::OpenAiStrict,
            Self::Anthropic => Dialect::Anthropic,
            Self::Gemini => Dialect::Gemini,
            Self::ChatCompletions | Self::JsonObject | Self::Instructions => Dialect::JsonSchema,
        }
    }

    /// Whether a schema for the answer may be sent along with tools. If not, the schema goes into the instructions:
    /// models of Gemini before the third generation refuse both at once, and many servers of chat completions apply the
    /// schema to the whole answer, so that no tool could be asked for.
    pub(crate) fn takes_schema_beside_tools(self, model: &str) -> bool {
        match self {
            Self::OpenAi | Self::OpenAiResponses | Self::Anthropic => true,
            Self::Gemini => {
                let name = model.rsplit('/').next().unwrap_or(model);
                !["gemini-1", "gemini-2"]
                    .iter()
                    .any(|old| name.starts_with(old))
            }
            Self::ChatCompletions | Self::JsonObject | Self::Instructions => false,
        }
    }

    /// The path below which the provider's servers usually answer.
    pub(crate) fn usual_path(self) -> &'static str {
        match self {
            Self::Gemini => "/v1beta/",
            Self::OpenAi
            | Self::OpenAiResponses
            | Self::ChatCompletions
            | Self::JsonObject
            | Self::Anthropic
            | Self::Instructions => "/v1/",
        }
    }
}
