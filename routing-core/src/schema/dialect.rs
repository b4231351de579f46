//! The dialects of JSON Schema that providers accept for structured output.

use std::fmt::{self, Display};
use std::str::FromStr;

/// A dialect of JSON Schema.
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
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::JsonSchema,
        Self::OpenAiStrict,
        Self::Anthropic,
        Self::Gemini,
    ];

    /// The name on the command line and in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JsonSchema => "json-schema",
            Self::OpenAiStrict => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
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
#[error("unknown dialect `{given}`; known are: json-schema, openai, anthropic, gemini")]
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
