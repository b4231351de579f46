//! A schema that a model's answer must fit.

use schemars::JsonSchema;
use serde_json::Value;

use super::Dialect;
use super::constraint::has_constraints;
use super::render::render;
use super::source::{self, Source};

/// A schema that a model's answer must fit, in one dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema {
    name: String,
    dialect: Dialect,
    value: Value,
    text: String,
    /// `None` if it is `value`.
    checked: Option<Value>,
    has_constraints: bool,
}

impl AnswerSchema {
    /// The schema of a type, for an answer that is no routing record, such as a review's decision.
    ///
    /// Characters of the name that providers do not take become `_`. The type should be a struct:
    /// providers take only objects, which [`check_limits`](super::check_limits) says too.
    pub fn from_type<T: JsonSchema>(name: &str, dialect: Dialect) -> Self {
        Self::render(source::of_type::<T>(name), dialect)
    }

    /// A schema that is known only as data, [plain](super::SchemaTable::plain) JSON Schema, in a dialect.
    pub fn from_plain(name: &str, plain: Value, dialect: Dialect) -> Self {
        let source = Source {
            name: source::provider_name(name),
            lenient: plain.clone(),
            plain,
        };
        Self::render(source, dialect)
    }

    /// A schema of ours that every dialect takes as it is.
    pub(crate) fn as_it_is(name: &str, dialect: Dialect, value: Value) -> Self {
        Self {
            name: source::provider_name(name),
            dialect,
            text: value.to_string(),
            has_constraints: false,
            checked: None,
            value,
        }
    }

    pub(super) fn render(source: Source, dialect: Dialect) -> Self {
        let Source {
            name,
            plain,
            lenient,
        } = source;
        let value = match dialect {
            Dialect::JsonSchema => plain,
            Dialect::OpenAiStrict | Dialect::Anthropic | Dialect::Gemini => {
                render(&lenient, dialect)
            }
            Dialect::Grammar => render(&plain, dialect),
        };
        Self {
            name,
            dialect,
            text: value.to_string(),
            has_constraints: has_constraints(&lenient),
            checked: (lenient != value).then_some(lenient),
            value,
        }
    }

    /// The name that providers are given: ASCII letters, digits, `_` and `-`, at most 64 of them.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dialect it is written in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The schema as a tree.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The schema as compact JSON: the same bytes in every process.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it demands more than reading enforces: lengths, ranges, patterns, formats.
    pub fn has_constraints(&self) -> bool {
        self.has_constraints
    }

    /// What to check an answer against once it has been read: JSON Schema 2020-12 with every constraint, also those
    /// that the dialect of this schema leaves out.
    ///
    /// Unset routes of a record may be null in it, and how many are set is not said: reading has
    /// made sure that exactly one is.
    pub fn constraints_schema(&self) -> &Value {
        self.checked.as_ref().unwrap_or(&self.value)
    }
}
