//! The one provider of cryptography behind every TLS connection: `ring`, which builds in seconds.
//!
//! A program that wants another one installs it with `rustls::crypto::CryptoProvider::install_default` before the first
//! connection, and every connection here uses that one.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// The provider of this process: the one that the program has installed, else `ring`, which is installed for libraries
/// that look for one.
pub fn provider() -> Arc<CryptoProvider> {
    if CryptoProvider::get_default().is_none() {
        // Refused if another thread was faster, which has installed one, too.
        let _refused = ring::default_provider().install_default();
    }
    CryptoProvider::get_default().map_or_else(|| Arc::new(ring::default_provider()), Arc::clone)
}

/// A client of HTTP to be set up. `reqwest`'s own constructors panic where no provider is installed; clippy refuses them.
#[cfg(feature = "client")]
#[expect(
    clippy::disallowed_methods,
    reason = "the provider is installed before this one"
)]
pub fn client() -> reqwest::ClientBuilder {
    let _installed = provider();
    reqwest::Client::builder()
}

/// What an address answers to a request without a body: `reqwest::get`, which panics where no provider is installed.
///
/// # Errors
///
/// As `reqwest`'s: the address is none, or there is no answer.
///
/// # Cancel safety
///
/// Dropped, the request was sent or not.
#[cfg(feature = "client")]
pub async fn get(address: impl reqwest::IntoUrl) -> reqwest::Result<reqwest::Response> {
    client().build()?.get(address).send().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_what_is_used() {
        let first = provider();
        let installed = CryptoProvider::get_default().unwrap();
        assert!(Arc::ptr_eq(&first, installed));
        assert!(Arc::ptr_eq(&first, &provider()));
    }

    #[cfg(feature = "client")]
    #[test]
    fn a_client_is_built_where_no_provider_was_installed() {
        assert!(client().build().is_ok());
    }
}
