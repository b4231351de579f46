//! Logging in to servers on the network, as the authorization of the protocol says: who refuses a request names where
//! tokens are given (RFC 9728, RFC 8414), a person allows us there (OAuth 2.1 with PKCE), and each request carries the
//! token from then on.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization>
//!
//! `terms` is what the configuration says, `challenge` what a server demands, `stored_login` where tokens are, `flow` one login,
//! `landing` the page that a person comes back to, and `token_middleware` what puts tokens into a server's requests.

#[cfg(feature = "mcp")]
mod challenge;
#[cfg(feature = "mcp")]
mod flow;
mod guide;
#[cfg(feature = "mcp")]
mod landing;
#[cfg(feature = "mcp")]
mod stored_login;
mod terms;
#[cfg(feature = "mcp")]
mod token_middleware;

pub use guide::{LoginGuide, LoginPage};
pub use terms::LoginTerms;
#[cfg(feature = "mcp")]
pub(super) use token_middleware::TokenMiddleware;
