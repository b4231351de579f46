//! Problem documents: every refusal says what is wrong, by a code, and what to do next.

mod invalid;
mod kind;
mod planned;
mod refused;
mod worked;

use axum::http::{HeaderName, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use control::as_called;
use problem_details::{JsonProblemDetails, ProblemDetails};
use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use invalid::{misfit, of_invalid};
pub(crate) use kind::Kind;
pub(crate) use planned::{absent_plan, of_plan_order, of_plan_read, other_workflow};
pub(crate) use refused::{
    decider, in_time, no_interrupt, no_rule, not_decided, of_change, of_launch, of_refusal,
    of_rule, of_store, of_verify,
};
pub(crate) use worked::{of_registration, of_work};

/// Why a request was not carried out.
#[derive(Debug, Clone)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    kind: Kind,
    detail: String,
    hint: String,
    instance: Option<String>,
    more: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The members beside those of the standard.
#[derive(Debug, Clone, Serialize)]
struct Extensions {
    code: &'static str,
    hint: String,
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl Problem {
    /// A problem of a kind: what happened, and what to do next.
    pub(crate) fn new(kind: Kind, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            kind,
            detail: detail.into(),
            hint: as_called(&hint.into()),
            instance: None,
            more: Map::new(),
            headers: Vec::new(),
        }))
    }

    /// The server is stopping; the next one will be there in a moment.
    pub(crate) fn draining(hint: &str) -> Self {
        Self::new(Kind::Draining, "the server is being stopped", hint)
            .header(header::RETRY_AFTER, HeaderValue::from_static("2"))
    }

    /// The metrics could not be written.
    pub(crate) fn unwritten_metrics() -> Self {
        Self::new(
            Kind::Internal,
            "the metrics cannot be written",
            "report this",
        )
    }

    /// Names the thing that it is about.
    pub(crate) fn about(mut self, instance: impl Into<String>) -> Self {
        self.0.instance = Some(instance.into());
        self
    }

    /// Adds a member.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.more.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: impl Into<HeaderValue>) -> Self {
        self.0.headers.push((name, value.into()));
        self
    }

    /// What kind it is.
    pub(crate) fn kind(&self) -> Kind {
        self.0.kind
    }

    /// What happened.
    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> &str {
        &self.0.hint
    }

    /// A member that was added.
    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        self.0.more.get(name)
    }

    fn document(&self) -> ProblemDetails<Extensions> {
        let parts = &self.0;
        let mut document = ProblemDetails::from_status_code(parts.kind.status())
            .with_title(parts.kind.title())
            .with_detail(parts.detail.clone());
        if let Ok(kind) = Uri::try_from(format!("/problems/{}", parts.kind.code())) {
            document = document.with_type(kind);
        }
        if let Some(instance) = &parts.instance
            && let Ok(instance) = Uri::try_from(instance.as_str())
        {
            document = document.with_instance(instance);
        }
        document.with_extensions(Extensions {
            code: parts.kind.code(),
            hint: parts.hint.clone(),
            more: parts.more.clone(),
        })
    }

    /// The document as JSON, for frames and batches.
    pub(crate) fn to_json(&self) -> Value {
        serde_json::to_value(self.document()).unwrap_or(Value::Null)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = JsonProblemDetails::from(self.document()).into_response();
        let headers = response.headers_mut();
        if self.0.kind == Kind::Unauthenticated {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"irq\""),
            );
        }
        for (name, value) in self.0.headers.clone() {
            headers.insert(name, value);
        }
        // For pages, which say the same in words.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;

    use interrupts::store::StoreError;

    use super::{Problem, of_store};

    #[test]
    fn a_value_that_no_store_keeps_is_the_callers_fault_and_what_the_store_lacks_is_not() {
        let detail = || "the name of a run cannot have the character U+0000".to_owned();
        for (error, status) in [
            (StoreError::InvalidValue { detail: detail() }, 422),
            (StoreError::Unreachable { detail: detail() }, 503),
            (StoreError::Unavailable { detail: detail() }, 503),
            (StoreError::Full, 503),
        ] {
            let response = of_store(&error).into_response();
            assert_eq!(response.status(), status, "{error}");
        }
    }

    #[test]
    fn a_server_that_is_being_stopped_says_when_to_come_back() {
        let response = Problem::draining("come back in a moment").into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "2");
    }
}
