//! What lists have in common: links to the next part, versions, keys.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, http::Uri};
use interrupts::life::{Interrupt, Verdict};
use serde::Serialize;

use crate::acting::checked_key;
use crate::app::App;
use crate::parameters::wrong;
use crate::problem::{Code, Problem};

/// The header by which a repeated request is the same.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A link to the address of a request with another cursor, by the name of the cursor's parameter.
pub(super) fn next_link(uri: &Uri, parameter: &str, cursor: &str) -> Option<HeaderValue> {
    let query = uri.query().unwrap_or_default();
    let mut pairs = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if name != parameter {
            pairs.append_pair(&name, &value);
        }
    }
    pairs.append_pair(parameter, cursor);
    let link = format!("<{}?{}>; rel=\"next\"", uri.path(), pairs.finish());
    HeaderValue::try_from(link).ok()
}

/// A part of a list, with a link to the next one.
pub(super) fn listed<T: Serialize>(uri: &Uri, cursor: Option<&str>, body: T) -> Response {
    let mut response = Json(body).into_response();
    if let Some(link) = cursor.and_then(|cursor| next_link(uri, "cursor", cursor)) {
        response.headers_mut().insert(header::LINK, link);
    }
    response
}

/// Something with a version: not sent again to a caller who has it.
pub(super) fn versioned<T: Serialize>(version: u64, headers: &HeaderMap, body: T) -> Response {
    let tag = etag(version);
    let known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|known| known.trim() == tag || known.trim() == "*");
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Json(body).into_response()
    };
    if let Ok(tag) = HeaderValue::try_from(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// The tag of a version.
pub(super) fn etag(version: u64) -> String {
    format!("\"{version}\"")
}

/// The version that a caller claims to have seen.
#[derive(Debug, Clone, Copy)]
pub(super) enum SeenVersion {
    /// No version was given.
    Unsaid,
    /// Whichever there is.
    Any,
    /// This one.
    This(u64),
}

impl SeenVersion {
    /// The version of an interrupt that the caller means; `None` if the caller does not say.
    pub(super) const fn of(self, interrupt: &Interrupt) -> Option<u64> {
        match self {
            Self::Unsaid => None,
            Self::Any => Some(interrupt.version),
            Self::This(version) => Some(version),
        }
    }

    /// The version that a decision is about: whoever says `*` has read nothing, and may only say no.
    pub(super) fn decided(self, interrupt: &Interrupt, verdict: Verdict) -> Option<u64> {
        match self {
            Self::Any if verdict != Verdict::Reject => None,
            Self::Any | Self::Unsaid | Self::This(_) => self.of(interrupt),
        }
    }
}

impl FromRequestParts<App> for SeenVersion {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Problem> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else {
            return Ok(Self::Unsaid);
        };
        let tag = value.to_str().map(str::trim).unwrap_or_default();
        // It matches any existing version (RFC 9110, section 13.1.1).
        if tag == "*" {
            return Ok(Self::Any);
        }
        let version = tag
            .strip_prefix('"')
            .and_then(|tag| tag.strip_suffix('"')?.parse().ok());
        match version {
            Some(version) => Ok(Self::This(version)),
            // An unknown tag is not the current version.
            None => Err(Problem::new(
                Code::StaleVersion,
                "If-Match: this is no tag that was given out, such as `\"7\"`",
                "read it again, and send its ETag as it is",
            )),
        }
    }
}

/// The key that a caller gave to the request.
#[derive(Debug, Clone)]
pub(super) struct RequestKey(pub(super) Option<String>);

impl FromRequestParts<App> for RequestKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Problem> {
        let key = match parts.headers.get(IDEMPOTENCY_KEY) {
            None => None,
            Some(value) => Some(value.to_str().map_err(|_error| {
                wrong(
                    "Idempotency-Key",
                    "only visible ASCII characters are possible",
                )
            })?),
        };
        checked_key(key).map(Self)
    }
}
