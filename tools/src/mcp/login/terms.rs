//! How a server is logged in to, as its configuration says.

use std::fmt::{self, Debug};

/// How a server is logged in to. Most need none of it: a client is registered when a person logs in (RFC 7591).
#[derive(Clone, Default)]
pub struct LoginTerms {
    /// The client that was registered for us beforehand.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// Where a document describes our client; its address is the id of the client then.
    pub client_metadata: Option<String>,
    /// What is asked for, where it is not what the server names.
    pub scopes: Vec<String>,
    /// The port of this machine that a person is sent back to; `None` takes a free one.
    pub port: Option<u16>,
    /// Whether the authorization server may be in a private network while the server itself is not.
    pub private_network: bool,
}

impl Debug for LoginTerms {
    /// All but the secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoginTerms")
            .field("client_id", &self.client_id)
            .field("client_metadata", &self.client_metadata)
            .field("scopes", &self.scopes)
            .field("port", &self.port)
            .field("private_network", &self.private_network)
            .finish_non_exhaustive()
    }
}
