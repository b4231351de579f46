//! What a double says to a request: text, and tools that it asks for.

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    /// The text, which may be empty.
    pub text: String,
    /// The tools that are asked for after it.
    pub calls: Vec<SaidCall>,
}

/// A tool that a double asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidCall {
    /// The id; left out of Gemini's form where it is empty.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as they are written, which may be no JSON, though not for Gemini.
    pub arguments: String,
    /// What the double says must come back with the call. Only Anthropic and Gemini do.
    pub signature: Option<String>,
}

impl SaidCall {
    /// A call without a signature.
    pub fn new(id: &str, name: &str, arguments: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            signature: None,
        }
    }

    /// The call with a signature.
    #[must_use]
    pub fn signed(self, signature: &str) -> Self {
        Self {
            signature: Some(signature.to_owned()),
            ..self
        }
    }
}

impl Said {
    /// An answer that asks for tools.
    pub fn asking(text: &str, calls: impl IntoIterator<Item = SaidCall>) -> Self {
        Self {
            text: text.to_owned(),
            calls: calls.into_iter().collect(),
        }
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self {
            text,
            calls: Vec::new(),
        }
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}
