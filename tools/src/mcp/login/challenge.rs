//! What a server demands before it takes a request.

use std::error::Error;

use reqwest::Url;
use rmcp::transport::auth::{AuthError, WWWAuthenticateParams};
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// What a server demands before it takes a request.
#[derive(Debug, Default)]
pub(super) struct Challenge {
    /// Its `WWW-Authenticate`, where it sent one.
    pub(super) header: Option<String>,
    /// The scopes that the token lacks, where it is good otherwise (RFC 6750, section 3.1).
    pub(super) lacks: Vec<String>,
}

impl Challenge {
    /// The challenge in an error of the way to the server at this address, where it is one.
    pub(super) fn in_error(error: &(dyn Error + 'static), url: &str) -> Option<Self> {
        let error: &StreamableHttpError<reqwest::Error> = error.downcast_ref()?;
        if let StreamableHttpError::AuthRequired(refused) = error {
            return Some(Self {
                header: Some(refused.www_authenticate_header.clone()),
                lacks: Vec::new(),
            });
        }
        if let StreamableHttpError::InsufficientScope(refused) = error {
            let header = &refused.www_authenticate_header;
            let said = WWWAuthenticateParams::parse(header, &Url::parse(url).ok()?);
            let lacks = said.scope.as_deref().unwrap_or_default().split_whitespace();
            // A server may also forbid for good.
            return said.is_insufficient_scope().then(|| Self {
                header: Some(header.clone()),
                lacks: lacks.map(str::to_owned).collect(),
            });
        }
        // RFC 6750 demands a `WWW-Authenticate`, and not all servers send one.
        let is_silent = matches!(error, StreamableHttpError::UnexpectedServerResponse(words) if words.starts_with("HTTP 401"));
        // The token ended, and under a client of which this process does not know: another one has logged in.
        let is_foreign = matches!(
            error,
            StreamableHttpError::Auth(AuthError::InternalError(_))
        );
        (is_silent || is_foreign).then(Self::default)
    }
}
