//! The address of a server, in the form that the client library needs.

use reqwest::Url;

use super::{Provider, ProviderError};

/// The last parts of addresses that are sometimes given in place of the base.
const OPERATIONS: [&str; 3] = ["/chat/completions", "/messages", "/responses"];

/// A base URL that ends in a slash.
#[derive(Debug, Clone)]
pub(crate) struct BaseUrl {
    url: Url,
}

impl BaseUrl {
    /// Reads an address as people write it: with or without the last slash, with or without the
    /// usual path.
    pub(crate) fn parse(given: &str, provider: Provider) -> Result<Self, ProviderError> {
        let given = given.trim();
        let with_scheme = if given.contains("://") {
            given.to_owned()
        } else {
            format!("http://{given}")
        };
        let refused = |shown: &str, reason: &str| ProviderError::BaseUrl {
            given: shown.to_owned(),
            reason: reason.to_owned(),
        };
        let mut url = Url::parse(&with_scheme).map_err(|error| {
            // What cannot be read may have a password anywhere in it.
            let shown = if given.contains('@') { "..." } else { given };
            refused(shown, &error.to_string())
        })?;
        if !url.username().is_empty() || url.password().is_some() {
            let host = url.host_str().unwrap_or_default();
            let reason = "it has a user name or a password; give the key in the environment";
            return Err(refused(host, reason));
        }
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(refused(
                given,
                "it must begin with http:// or https:// and name a host",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused(given, "it has a query or a fragment"));
        }
        let mut path = url.path().trim_end_matches('/');
        for operation in OPERATIONS {
            path = path.strip_suffix(operation).unwrap_or(path);
        }
        let path = if path.is_empty() {
            provider.wire().usual_path().to_owned()
        } else {
            format!("{path}/")
        };
        url.set_path(&path);
        Ok(Self { url })
    }

    pub(crate) fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// Whether the server is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || address
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::{BaseUrl, Provider};

    #[test]
    fn an_address_is_completed() {
        for (provider, given, expected) in [
            (
                Provider::OPENAI,
                "http://localhost:8080",
                "http://localhost:8080/v1/",
            ),
            (
                Provider::OPENAI,
                "localhost:8080",
                "http://localhost:8080/v1/",
            ),
            (
                Provider::OPENAI,
                "http://localhost:8080/v1",
                "http://localhost:8080/v1/",
            ),
            (
                Provider::OPENAI,
                "https://host.example/api/v3/",
                "https://host.example/api/v3/",
            ),
            (
                Provider::OPENAI,
                "http://[::1]:80/v1/chat/completions",
                "http://[::1]/v1/",
            ),
            (
                Provider::ANTHROPIC,
                "http://127.0.0.1:1/",
                "http://127.0.0.1:1/v1/",
            ),
            (
                Provider::GEMINI,
                "http://127.0.0.1:1",
                "http://127.0.0.1:1/v1beta/",
            ),
        ] {
            let url = BaseUrl::parse(given, provider).unwrap();
            assert_eq!(url.as_str(), expected, "{given}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_used_is_refused_without_its_password() {
        for given in [
            "",
            "ftp://host",
            "http://",
            "http://host/?key=1",
            "http://:@",
            "http://a:geheim@host",
        ] {
            let error = BaseUrl::parse(given, Provider::OPENAI).unwrap_err();
            assert!(
                !format!("{error} {error:?}").contains("geheim"),
                "{error:?}"
            );
        }
    }

    #[test]
    fn only_addresses_of_this_machine_are_local() {
        let local = |given| {
            BaseUrl::parse(given, Provider::OPENAI)
                .unwrap()
                .is_loopback()
        };
        assert!(local("http://127.0.0.2:1") && local("http://[::1]:1") && local("localhost:1"));
        assert!(!local("http://10.0.0.1") && !local("http://localhost.example"));
    }
}
