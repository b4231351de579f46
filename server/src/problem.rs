//! Problem documents: every refusal says what is wrong, by a code, and what to do next.

mod planned;
mod refused;
mod worked;

use std::error::Error;

use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use control::{NotDone, Refusal, as_called};
use problem_details::{JsonProblemDetails, ProblemDetails};
use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use control::Code;
pub(crate) use planned::{absent_plan, of_plan_order, of_plan_read, other_workflow};
pub(crate) use refused::{in_time, of_launch, of_store, of_verify};
pub(crate) use worked::{of_registration, of_work};

/// Why a request was not carried out.
#[derive(Debug, Clone)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    refusal: Refusal,
    instance: Option<String>,
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
    /// What happened, and what to do next.
    pub(crate) fn new(code: Code, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Refusal::new(code, detail, hint).into()
    }

    /// The server is stopping; the next one will be there in a moment.
    pub(crate) fn draining(hint: &str) -> Self {
        Self::new(Code::Draining, "the server is being stopped", hint)
            .header(header::RETRY_AFTER, HeaderValue::from_static("2"))
    }

    /// The metrics could not be written.
    pub(crate) fn unwritten_metrics() -> Self {
        Self::new(
            Code::Internal,
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
        self.0.refusal = self.0.refusal.with(name, value);
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: impl Into<HeaderValue>) -> Self {
        self.0.headers.push((name, value.into()));
        self
    }

    /// What kind it is.
    pub(crate) fn code(&self) -> Code {
        self.0.refusal.code()
    }

    /// The status of its response.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// What happened.
    pub(crate) fn detail(&self) -> &str {
        self.0.refusal.text()
    }

    /// What to do next, its commands under the name of this program.
    pub(crate) fn hint(&self) -> String {
        as_called(self.0.refusal.hint())
    }

    /// A member that was added.
    pub(crate) fn member(&self, name: &str) -> Option<&Value> {
        self.0.refusal.members().get(name)
    }

    fn document(&self) -> ProblemDetails<Extensions> {
        let code = self.code();
        let mut document = ProblemDetails::from_status_code(self.status())
            .with_title(code.title())
            .with_detail(self.detail());
        if let Ok(kind) = Uri::try_from(format!("/problems/{}", code.name())) {
            document = document.with_type(kind);
        }
        if let Some(instance) = &self.0.instance
            && let Ok(instance) = Uri::try_from(instance.as_str())
        {
            document = document.with_instance(instance);
        }
        document.with_extensions(Extensions {
            code: code.name(),
            hint: self.hint(),
            more: self.0.refusal.members().clone(),
        })
    }

    /// The document as JSON, for frames and batches.
    pub(crate) fn to_json(&self) -> Value {
        serde_json::to_value(self.document()).unwrap_or(Value::Null)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        // Who was too late gets the version that the decision made, as its readers do.
        let version = (refusal.code() == Code::AlreadyResolved)
            .then(|| refusal.members().get("current_version"))
            .flatten()
            .and_then(|version| HeaderValue::try_from(format!("\"{version}\"")).ok());
        let headers = version.map(|version| (header::ETAG, version));
        Self(Box::new(Parts {
            refusal,
            instance: None,
            headers: headers.into_iter().collect(),
        }))
    }
}

impl From<NotDone> for Problem {
    fn from(error: NotDone) -> Self {
        match error {
            NotDone::Refused(refusal) => refusal.into(),
            NotDone::Store(error) => of_store(&error),
            NotDone::Failed(error) => {
                let error: &(dyn Error + 'static) = &*error;
                tracing::error!(error, "a request failed");
                Self::new(
                    Code::Internal,
                    "it failed here",
                    "the log of the server says why; `irq doctor` says what is wrong",
                )
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = JsonProblemDetails::from(self.document()).into_response();
        let headers = response.headers_mut();
        if self.code() == Code::Unauthenticated {
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
