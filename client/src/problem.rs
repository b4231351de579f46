//! A server's refusal, as the server sends it.

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A problem document (RFC 9457), with the members that this server adds.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ProblemDocument {
    /// The status of the answer.
    #[serde(skip)]
    pub status: u16,
    /// What happened.
    pub detail: String,
    /// What to do next.
    pub hint: String,
    /// The code by which programs recognise it.
    pub code: String,
    /// Other members, such as `allowed_decisions` or `routes`.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl ProblemDocument {
    /// Reads a body; `None` if it is no problem document, and so no answer of this server.
    pub(crate) fn read(status: StatusCode, body: &[u8]) -> Option<Self> {
        let mut problem: Self = serde_json::from_slice(body).ok()?;
        problem.status = status.as_u16();
        (!problem.code.is_empty()).then_some(problem)
    }

    /// The refused parts of a request, each with its id.
    pub fn parts(&self) -> Vec<(String, Self)> {
        let refused = self.more.get("refused").and_then(Value::as_array);
        let part = |part: &Value| {
            let id = part.get("interrupt_id")?.as_str()?.to_owned();
            let problem = part.get("problem")?;
            let status = u16::try_from(problem.get("status")?.as_u64()?).ok()?;
            let mut refusal: Self = serde_json::from_value(problem.clone()).ok()?;
            refusal.status = status;
            Some((id, refusal))
        };
        refused.into_iter().flatten().filter_map(part).collect()
    }

    /// What to do next, if the server knows.
    pub fn advice(&self) -> Option<&str> {
        (!self.hint.is_empty()).then_some(&*self.hint)
    }
}

impl std::fmt::Display for ProblemDocument {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.detail.is_empty() {
            write!(formatter, "the server refused it: {}", self.code)
        } else {
            formatter.write_str(&self.detail)
        }
    }
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;

    use super::ProblemDocument;

    #[test]
    fn what_is_no_problem_document_is_no_refusal() {
        for body in ["", "<html>", "{}", "[]", r#"{"detail": "by some proxy"}"#] {
            let read = ProblemDocument::read(StatusCode::NOT_FOUND, body.as_bytes());
            assert!(read.is_none(), "{body}");
        }
    }
}
