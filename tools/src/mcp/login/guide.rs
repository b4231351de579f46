//! Who shows a person the page of a login.

use async_trait::async_trait;

use crate::mcp::name::ServerName;
use crate::permission::NoApprover;

/// A page of the web on which a person logs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginPage {
    /// The server that wants it.
    pub server: ServerName,
    /// The page. It contains no secret, and works once.
    pub url: String,
}

/// Shows a person the page of a login.
#[async_trait]
pub trait LoginGuide: Send + Sync {
    /// Whether a person is there now. Where none is, a server that wants a login cannot be used.
    fn has_person(&self) -> bool;

    /// Shows the page. That the person has logged in is seen elsewhere.
    ///
    /// # Cancel safety
    ///
    /// Dropped as soon as the person has logged in.
    async fn show(&self, page: LoginPage);
}

#[async_trait]
impl LoginGuide for NoApprover {
    fn has_person(&self) -> bool {
        false
    }

    async fn show(&self, _page: LoginPage) {}
}
