//! The client library's errors as errors of the port.

use std::error::Error;
use std::string::FromUtf8Error;
use std::time::SystemTime;

use genai::webc::StreamTimeout;
use interrupt_router::model::{Awaited, ModelError};
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::Unreached;
use super::answer::is_error;
use super::cause;
use super::retry_after;
use super::{CallLimits, Secret};

/// The most characters of what a provider says that are passed on.
const LONGEST_DETAIL: usize = 300;

/// What is known of a call when it fails.
#[derive(Debug, Clone)]
pub(crate) struct FailureContext {
    /// Where the model was looked for.
    pub(crate) endpoint: String,
    /// What bounds the call.
    pub(crate) limits: CallLimits,
    /// What must not be shown.
    pub(crate) key: Secret,
}

/// The error of a call after `received` bytes of its answer.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the client library's other errors are all about what it could not understand"
)]
pub(crate) fn of(error: genai::Error, context: &FailureContext, received: usize) -> ModelError {
    match error {
        genai::Error::HttpError {
            status,
            body,
            headers,
            ..
        } => refused_with(status.as_u16(), &headers, &body, context),
        genai::Error::WebStream { error, .. } => of_transport(error, context, received),
        genai::Error::StreamParse { serde_error, .. } if serde_error.is_eof() => {
            ModelError::BrokenOff { received }
        }
        genai::Error::ChatResponse { body, .. } => in_stream(&body, context),
        // The remaining errors are not about the key: the client library is given one that was already found.
        other => ModelError::Malformed {
            detail: context.detail(&other.to_string()),
        },
    }
}

fn of_transport(
    error: Box<dyn Error + Send + Sync>,
    context: &FailureContext,
    received: usize,
) -> ModelError {
    let error = match error.downcast::<genai::Error>() {
        Ok(error) => return of(*error, context, received),
        Err(error) => error,
    };
    if let Some(timeout) = error.downcast_ref::<StreamTimeout>() {
        let (awaited, limit) = match timeout {
            StreamTimeout::Headers => (Awaited::Beginning, context.limits.first),
            StreamTimeout::Read => (Awaited::Next, context.limits.silence),
        };
        return ModelError::TimedOut { limit, awaited };
    }
    if let Some(error) = error.downcast_ref::<FromUtf8Error>() {
        // What is missing may have been cut off; what is wrong was never text.
        return if error.utf8_error().error_len().is_none() {
            ModelError::BrokenOff { received }
        } else {
            let detail = "the server sent bytes that are no text".to_owned();
            ModelError::Malformed { detail }
        };
    }
    match error.downcast::<reqwest::Error>() {
        Ok(error) => of_connection(*error, context, received),
        Err(error) => ModelError::Malformed {
            detail: context.detail(&error.to_string()),
        },
    }
}

/// The error of a connection after `received` bytes of an answer.
pub(crate) fn of_connection(
    error: reqwest::Error,
    context: &FailureContext,
    received: usize,
) -> ModelError {
    if error.is_connect() || (error.is_request() && received == 0) {
        ModelError::Unreachable {
            endpoint: context.endpoint.clone(),
            source: Box::new(Unreached::of(error.without_url())),
        }
    } else if error.is_builder() {
        ModelError::Malformed {
            detail: context.detail(&error.without_url().to_string()),
        }
    } else {
        ModelError::BrokenOff { received }
    }
}

/// The error of a refused request.
pub(crate) fn refused_with(
    status: u16,
    headers: &HeaderMap,
    body: &str,
    context: &FailureContext,
) -> ModelError {
    let said = serde_json::from_str(body).unwrap_or(Value::Null);
    refused(status, &said, context.detail(body), headers)
}

/// The error that a server reports in place of a stream, if it reports one.
pub(crate) fn in_place_of_stream(said: &str, context: &FailureContext) -> Option<ModelError> {
    let said: Value = serde_json::from_str(said).ok()?;
    let said = said.get(0).unwrap_or(&said);
    is_error("", said).then(|| in_stream(said, context))
}

/// The error that a server reports in words alone.
pub(crate) fn in_words(words: &str, context: &FailureContext) -> ModelError {
    in_stream(&Value::String(words.to_owned()), context)
}

/// The error of an HTTP status, with the body of the answer and what may be shown of it.
fn refused(status: u16, body: &Value, detail: String, headers: &HeaderMap) -> ModelError {
    if let Some(error) = cause::of(status, body, &detail) {
        return error;
    }
    let retry_after = retry_after::asked_for(headers, SystemTime::now())
        .or_else(|| retry_after::asked_for_in(body));
    match status {
        // No key gets better by waiting.
        401 => ModelError::Unauthorized { status, detail },
        403 if retry_after.is_none() => ModelError::Unauthorized { status, detail },
        429 => ModelError::RateLimited {
            retry_after,
            detail,
        },
        // Also another failure for which the provider says when to try again.
        _ if matches!(status, 408 | 425 | 500..) || retry_after.is_some() => {
            ModelError::ProviderFailed {
                status,
                retry_after,
                detail,
                begun: false,
            }
        }
        _ => ModelError::Rejected { status, detail },
    }
}

/// The error that a provider reports within a stream that began well.
pub(crate) fn in_stream(body: &Value, context: &FailureContext) -> ModelError {
    let error = body.get("error").unwrap_or(body);
    let said = body
        .as_str()
        .map_or_else(|| body.to_string(), str::to_owned);
    let detail = context.detail(&said);
    let said = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = ["code", "status"]
        .iter()
        .find_map(|name| error.get(*name).and_then(Value::as_u64))
        .and_then(|status| u16::try_from(status).ok())
        .filter(|status| (400..600).contains(status));
    let named = match (said("type"), said("status"), said("code")) {
        ("overloaded_error", _, _) => 529,
        ("rate_limit_error", _, _)
        | (_, "RESOURCE_EXHAUSTED", _)
        | (_, _, "rate_limit_exceeded") => 429,
        ("authentication_error", _, _) | (_, "UNAUTHENTICATED", _) => 401,
        ("permission_error", _, _) | (_, "PERMISSION_DENIED", _) => 403,
        ("invalid_request_error", _, _) | (_, "INVALID_ARGUMENT", _) => 400,
        _ => 500,
    };
    refused(number.unwrap_or(named), body, detail, &HeaderMap::new())
}

/// Whether what a server says is a page of HTML: of a proxy, or of an address that is no API's.
fn is_page(said: &str) -> bool {
    let beginning: String = said.trim_start().chars().take(15).collect();
    let beginning = beginning.to_ascii_lowercase();
    beginning.starts_with("<!doctype html") || beginning.starts_with("<html")
}

impl FailureContext {
    /// What a provider said, on one line, short, and without the key.
    pub(crate) fn detail(&self, said: &str) -> String {
        if is_page(said) {
            return "the server answered with a page for people, not with JSON".to_owned();
        }
        let json: Option<Value> = serde_json::from_str(said).ok();
        let message = json.as_ref().and_then(|json| {
            // Some wrap the object in a list.
            let json = json.get(0).unwrap_or(json);
            ["/error/message", "/message", "/error", "/detail"]
                .iter()
                .find_map(|place| json.pointer(place).and_then(Value::as_str))
        });
        let text = self.key.hidden_in(message.unwrap_or(said));
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut short: String = line.chars().take(LONGEST_DETAIL).collect();
        if short.len() < line.len() {
            short.push('\u{2026}');
        }
        short
    }
}
