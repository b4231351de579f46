//! What a server refuses, as a failure with an exit code and a way out.

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::exit::{Exit, Failure};

/// A problem document.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProblemDocument {
    /// What happened.
    pub(super) detail: String,
    /// What to do next.
    pub(super) hint: String,
    /// By which programs tell it.
    pub(super) code: String,
    /// What else it says.
    #[serde(flatten)]
    pub(super) more: Map<String, Value>,
}

impl ProblemDocument {
    /// Reads a body; `None` where it is no problem document, which then is no answer of an `irq`.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let refusal: Self = serde_json::from_slice(body).ok()?;
        (!refusal.code.is_empty()).then_some(refusal)
    }

    /// Whether it says that what was asked for is not there.
    pub(super) fn is_absence(&self) -> bool {
        matches!(
            self.code.as_str(),
            "run-not-found"
                | "interrupt-not-found"
                | "agent-not-found"
                | "event-not-found"
                | "rule-not-found"
        )
    }

    /// The failure that it is.
    pub(super) fn failure(&self, status: StatusCode) -> Failure {
        let text = if self.detail.is_empty() {
            format!("the server refused it: {}", self.code)
        } else {
            self.detail.clone()
        };
        let exit = match self.code.as_str() {
            // What failed is the model behind the server.
            "no-suggestion" => Exit::Failure,
            _ => exit_of(status),
        };
        let failure = Failure::new(exit, text);
        match self.advice() {
            Some(advice) => failure.hint(advice),
            None => failure,
        }
    }

    /// What was refused of several things, each with its id.
    pub(super) fn parts(&self) -> Vec<(String, Failure)> {
        let refused = self.more.get("refused").and_then(Value::as_array);
        let part = |part: &Value| {
            let id = part.get("interrupt_id")?.as_str()?.to_owned();
            let problem = part.get("problem")?;
            let status = problem.get("status")?.as_u64()?;
            let status = StatusCode::from_u16(u16::try_from(status).ok()?).ok()?;
            let refusal: Self = serde_json::from_value(problem.clone()).ok()?;
            Some((id, refusal.failure(status)))
        };
        refused.into_iter().flatten().filter_map(part).collect()
    }

    fn advice(&self) -> Option<String> {
        let listed = |name: &str| {
            let values = self.more.get(name)?.as_array()?;
            let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        if let Some(allowed) = listed("allowed_decisions") {
            return Some(format!("it takes: {allowed}"));
        }
        if let Some(routes) = listed("routes") {
            return Some(format!("it may go to: {routes}"));
        }
        (!self.hint.is_empty()).then(|| self.hint.clone())
    }
}

fn exit_of(status: StatusCode) -> Exit {
    match status.as_u16() {
        401 | 403 => Exit::NotAuthorised,
        404 => Exit::NotFound,
        409 | 410 | 412 => Exit::Conflict,
        400..=499 if status != StatusCode::TOO_MANY_REQUESTS => Exit::Usage,
        501 => Exit::Usage,
        502..=504 => Exit::Unreachable,
        _ => Exit::Failure,
    }
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;

    use super::ProblemDocument;
    use crate::exit::Exit;

    #[test]
    fn each_status_has_its_exit_code() {
        for (status, exit) in [
            (401, Exit::NotAuthorised),
            (403, Exit::NotAuthorised),
            (404, Exit::NotFound),
            (409, Exit::Conflict),
            (410, Exit::Conflict),
            (412, Exit::Conflict),
            (421, Exit::Usage),
            (422, Exit::Usage),
            (428, Exit::Usage),
            (429, Exit::Failure),
            (500, Exit::Failure),
            (501, Exit::Usage),
            (503, Exit::Unreachable),
        ] {
            let refusal =
                ProblemDocument::read(br#"{"code": "any", "detail": "no", "hint": "do"}"#);
            let failure = refusal
                .unwrap()
                .failure(StatusCode::from_u16(status).unwrap());
            assert_eq!(failure.exit, exit, "{status}");
            assert_eq!(failure.advice(), Some("do"));
        }
    }

    #[test]
    fn what_is_no_problem_document_is_no_refusal() {
        for body in ["", "<html>", "{}", "[]", r#"{"detail": "by some proxy"}"#] {
            assert!(ProblemDocument::read(body.as_bytes()).is_none(), "{body}");
        }
    }
}
