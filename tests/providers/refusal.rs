//! Why a double refuses a request.

use axum::http::HeaderMap;
use serde_json::Value;

/// A refusal: a status and what is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// What is said.
    pub message: String,
}

impl Refusal {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }
}

/// The text of a header, empty where it is missing.
pub(super) fn header<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// Refuses messages that are none, or whose roles are not among these.
pub(super) fn check_roles(
    messages: Option<&Value>,
    field: &str,
    known: &[&str],
) -> Result<(), Refusal> {
    let Some(messages) = messages
        .and_then(Value::as_array)
        .filter(|list| !list.is_empty())
    else {
        return Err(Refusal::bad_request(format!(
            "{field}: at least one message is required"
        )));
    };
    for (index, message) in messages.iter().enumerate() {
        let role = message
            .get("role")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !known.contains(&role) {
            let text = format!(
                "Invalid value: '{role}' at {field}[{index}].role. Supported values are: {known:?}"
            );
            return Err(Refusal::bad_request(text));
        }
    }
    Ok(())
}
