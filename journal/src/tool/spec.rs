//! What a tool says of itself.

use std::fmt::{self, Display};

use interrupts::store::Repeating;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name that a model calls a tool by: 1 to 64 ASCII letters, digits, `-` and `_`, which every provider takes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ToolName(String);

/// A text that no provider takes as the name of a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no name of a tool; expected 1 to 64 letters, digits, `-` and `_`")]
pub struct ToolNameError {
    given: String,
}

impl ToolName {
    /// A name.
    ///
    /// # Errors
    ///
    /// [`ToolNameError`] if a provider would refuse it.
    pub fn new(text: impl Into<String>) -> Result<Self, ToolNameError> {
        let text = text.into();
        let fits = (1..=64).contains(&text.len());
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if fits && plain {
            Ok(Self(text))
        } else {
            Err(ToolNameError { given: text })
        }
    }

    /// A name that is known to be one, at compile time.
    pub fn fixed(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ToolName {
    type Error = ToolNameError;

    fn try_from(text: String) -> Result<Self, ToolNameError> {
        Self::new(text)
    }
}

impl Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What an interrupt does to a running call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interruption {
    /// It is stopped.
    Stops,
    /// It waits until the call has ended: for work that must not be cut in half.
    Waits,
}

/// What a tool says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// What it is called by.
    pub name: ToolName,
    /// What it does, for the model that chooses.
    pub description: String,
    /// The JSON schema of its arguments, an object.
    pub arguments: Value,
    /// What an interrupt does to it.
    pub interruption: Interruption,
    /// What may be done about a call whose outcome is unknown.
    pub repeating: Repeating,
}
