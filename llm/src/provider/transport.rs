//! How connections are made.

use std::time::Duration;

use super::ProviderError;

/// How connections are made.
#[derive(Debug, Clone, Default)]
pub(super) struct Transport {
    pub(super) connect: Duration,
    /// Whether the server is on this machine.
    pub(super) local: bool,
    pub(super) authorities: Vec<reqwest::Certificate>,
    /// Whether each read and write is logged.
    pub(super) told: bool,
}

impl Transport {
    pub(super) fn client(&self) -> Result<reqwest::Client, ProviderError> {
        let mut builder = tls::client()
            .connect_timeout(self.connect)
            .tcp_nodelay(true)
            // A redirect would carry the key's header to wherever it points.
            .redirect(reqwest::redirect::Policy::none())
            // A compressed stream could hide an answer of any size.
            .no_gzip()
            .tls_certs_merge(self.authorities.clone());
        if self.local {
            builder = builder.no_proxy();
        }
        if self.told {
            // Frames of HTTP/2 are no text.
            builder = builder.connection_verbose(true).http1_only();
        }
        builder
            .build()
            .map_err(|error| ProviderError::Client(Box::new(error)))
    }
}
