//! The dialects of JSON Schema that providers accept for structured output.

use std::fmt::{self, Display};
use std::str::FromStr;

/// A dialect of JSON Schema.
///
/// What each takes is published by its provider: OpenAI under "Structured model outputs", section
/// "Supported schemas"; Anthropic under "Structured outputs", sections "JSON Schema limitations" and
/// "Schema complexity limits"; Google under "Structured outputs", section "JSON schema support", and
/// in the Gemini API reference at `GenerationConfig.responseJsonSchema`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// JSON Schema, draft 2020-12, unrestricted.
    JsonSchema,
    /// OpenAI's strict structured output.
    OpenAiStrict,
    /// Anthropic's structured output.
    Anthropic,
    /// Gemini's response schema.
    Gemini,
    /// JSON Schema for servers that turn it into a grammar, such as llama.cpp and Ollama: they force a model to follow
    /// it character by character. So it gives every text and list a maximum length, since nothing else ends a model
    /// that repeats itself; and a record is a choice of its routes, of which exactly one can be written.
    Grammar,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::JsonSchema,
        Self::OpenAiStrict,
        Self::Anthropic,
        Self::Gemini,
        Self::Grammar,
    ];

    /// The name on the command line and in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonSchema => "json-schema",
            Self::OpenAiStrict => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Grammar => "grammar",
        }
    }

    /// The longest list and the longest text that a model is asked for if its schema says nothing, within so many
    /// lists: an answer that is longer is still accepted. `None` if the provider takes no such bound.
    pub(super) const fn longest(self, within: usize) -> (Option<u64>, Option<u64>) {
        match (self, within) {
            (Self::JsonSchema | Self::Anthropic, _) => (None, None),
            // They end by themselves; and they take no bounds of texts.
            (Self::OpenAiStrict | Self::Gemini, _) => (Some(100), None),
            // The longest of all answers, a list of tickets, fits into some two thousand tokens.
            (Self::Grammar, 0) => (Some(4), Some(400)),
            (Self::Grammar, 1) => (Some(3), Some(160)),
            (Self::Grammar, _) => (Some(2), Some(80)),
        }
    }

    /// The keywords that the provider takes; empty for plain JSON Schema, which has no limits.
    ///
    /// What OpenAI's page lists as constraints (`pattern`, `multipleOf`, the bounds of numbers and
    /// of arrays) is taken by its newer models; Anthropic's page lists bounds as unsupported, and the
    /// Gemini API reference lists each keyword that it heeds.
    #[expect(clippy::too_many_lines, reason = "one list for each provider")]
    pub(super) const fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::JsonSchema => &[],
            Self::OpenAiStrict => &[
                "$defs",
                "$ref",
                "description",
                "type",
                "properties",
                "required",
                "additionalProperties",
                "items",
                "anyOf",
                "enum",
                "const",
                "format",
                "pattern",
                "multipleOf",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "minItems",
                "maxItems",
            ],
            Self::Anthropic => &[
                "$defs",
                "$ref",
                "description",
                "type",
                "properties",
                "required",
                "additionalProperties",
                "items",
                "anyOf",
                "enum",
                "const",
                "format",
                "minItems",
            ],
            Self::Gemini => &[
                "$defs",
                "$ref",
                "description",
                "type",
                "properties",
                "propertyOrdering",
                "required",
                "additionalProperties",
                "items",
                "prefixItems",
                "anyOf",
                "enum",
                "format",
                "minimum",
                "maximum",
                "minItems",
                "maxItems",
            ],
            Self::Grammar => &[
                "$defs",
                "$ref",
                "description",
                "type",
                "properties",
                "required",
                "additionalProperties",
                "items",
                "anyOf",
                "enum",
                "const",
                "format",
                "minimum",
                "maximum",
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
            ],
        }
    }

    /// The formats of strings that the provider takes.
    pub(super) const fn formats(self) -> &'static [&'static str] {
        match self {
            Self::JsonSchema => &[],
            Self::OpenAiStrict => &[
                "date-time",
                "time",
                "date",
                "duration",
                "email",
                "hostname",
                "ipv4",
                "ipv6",
                "uuid",
            ],
            Self::Anthropic => &[
                "date-time",
                "time",
                "date",
                "duration",
                "email",
                "hostname",
                "uri",
                "ipv4",
                "ipv6",
                "uuid",
            ],
            Self::Gemini | Self::Grammar => &["date-time", "date", "time"],
        }
    }
}

impl Display for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A text that names no dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect `{given}`; known are: json-schema, openai, anthropic, gemini, grammar")]
pub struct UnknownDialect {
    given: String,
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.name() == text)
            .ok_or_else(|| UnknownDialect {
                given: text.to_owned(),
            })
    }
}
