//! What a server demands before it takes a request.

use std::error::Error;

use reqwest::Url;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::auth::{AuthError, WWWAuthenticateParams};
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// What a server demands before it takes a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::mcp) struct Challenge {
    /// Its `WWW-Authenticate`, where it sent one.
    pub(super) header: Option<String>,
    /// The token is good, and not for this (RFC 6750, section 3.1).
    pub(super) wants_more: bool,
}

impl Challenge {
    /// The scopes that it names.
    pub(super) fn scopes(&self, server: &str) -> Vec<String> {
        let (Some(header), Ok(base)) = (&self.header, Url::parse(server)) else {
            return Vec::new();
        };
        let said = WWWAuthenticateParams::parse(header, &base).scope;
        let said = said.unwrap_or_default();
        said.split_whitespace().map(str::to_owned).collect()
    }

    /// The challenge in an error of the way to a server, where it is one.
    fn in_error(error: &(dyn Error + 'static)) -> Option<Self> {
        let error: &StreamableHttpError<reqwest::Error> = error.downcast_ref()?;
        let of = |header: &str, wants_more| Self {
            header: Some(header.to_owned()),
            wants_more,
        };
        if let StreamableHttpError::AuthRequired(refused) = error {
            return Some(of(&refused.www_authenticate_header, false));
        }
        if let StreamableHttpError::InsufficientScope(refused) = error {
            let header = &refused.www_authenticate_header;
            // A server may also forbid for good.
            return header
                .contains("insufficient_scope")
                .then(|| of(header, true));
        }
        if let StreamableHttpError::UnexpectedServerResponse(words) = error {
            // RFC 6750 demands a `WWW-Authenticate`, and not all servers send one.
            return words.starts_with("HTTP 401").then(Self::default);
        }
        // The token ended, and under a client of which this process does not know: another one has logged in.
        let is_foreign = matches!(
            error,
            StreamableHttpError::Auth(AuthError::InternalError(_))
        );
        is_foreign.then(Self::default)
    }
}

/// The challenge that a greeting failed by, if so.
pub(in crate::mcp) fn of_greeting(error: &ClientInitializeError) -> Option<Challenge> {
    if let ClientInitializeError::TransportError { error, .. } = error {
        return Challenge::in_error(&*error.error);
    }
    None
}

/// The challenge that a request failed by, if so.
pub(in crate::mcp) fn of_call(error: &ServiceError) -> Option<Challenge> {
    if let ServiceError::TransportSend(unsent) = error {
        return Challenge::in_error(&*unsent.error);
    }
    None
}
