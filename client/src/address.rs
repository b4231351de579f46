//! The address of a server.

use reqwest::Url;

use crate::ClientError;

/// The address of a server: all requests go to paths below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    /// Reads an address: `http` or `https`, a host, and perhaps a path that a proxy puts before the server's own.
    ///
    /// # Errors
    ///
    /// [`ClientError::Address`] with what is wrong. The text itself is not repeated if it may contain a password.
    pub fn parse(text: &str) -> Result<Self, ClientError> {
        let wrong = |problem: String| ClientError::Address { problem };
        let mut url =
            Url::parse(text).map_err(|error| wrong(format!("`{text}` is no address: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(wrong(format!("`{text}` is no address of a server")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "an address holds no name and no password; a token is given by itself".to_owned(),
            ));
        }
        // The printed address of the page has a launch token, which is not for programs.
        url.set_query(None);
        url.set_fragment(None);
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty();
        }
        Ok(Self(url))
    }

    /// The address of something below it. Each part is encoded as one.
    pub(crate) fn at(&self, parts: &[&str], query: &[(&str, String)]) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend(parts);
        }
        if !query.is_empty() {
            let mut pairs = url.query_pairs_mut();
            for (name, value) in query {
                pairs.append_pair(name, value);
            }
        }
        url
    }

    /// Whether it is this machine: requests to such a server never go through a proxy.
    pub fn is_this_machine(&self) -> bool {
        match self.0.host_str() {
            Some(name) if name == "localhost" || name.ends_with(".localhost") => true,
            Some(name) => {
                let name = name.trim_start_matches('[').trim_end_matches(']');
                let address = name.parse::<std::net::IpAddr>();
                address.is_ok_and(|address| address.is_loopback())
            }
            None => false,
        }
    }

    /// Whether requests to it can be read in transit.
    pub fn is_open(&self) -> bool {
        self.0.scheme() == "http" && !self.is_this_machine()
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_is_read_with_or_without_a_path_and_holds_no_secret() {
        for (text, page) in [
            (
                "http://127.0.0.1:7070",
                "http://127.0.0.1:7070/v1/runs?limit=1",
            ),
            (
                "http://127.0.0.1:7070/",
                "http://127.0.0.1:7070/v1/runs?limit=1",
            ),
            (
                "http://127.0.0.1:7070/?launch=secret#here",
                "http://127.0.0.1:7070/v1/runs?limit=1",
            ),
            (
                "https://irq.example/behind/",
                "https://irq.example/behind/v1/runs?limit=1",
            ),
        ] {
            let address = Address::parse(text).unwrap();
            let url = address.at(&["v1", "runs"], &[("limit", "1".to_owned())]);
            assert_eq!(url.as_str(), page);
        }
        for text in ["", "localhost:7070", "ftp://irq.example", "/v1", "http://"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
        let refused = Address::parse("http://ada:secret@irq.example").unwrap_err();
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }

    #[test]
    fn an_agents_address_is_one_part_of_the_path() {
        let address = Address::parse("http://127.0.0.1:7070").unwrap();
        let url = address.at(&["v1", "agents", "run_1/orchestrator"], &[]);
        assert_eq!(url.path(), "/v1/agents/run_1%2Forchestrator");
    }

    #[test]
    fn what_can_be_read_on_the_way_is_known() {
        let open = |text: &str| Address::parse(text).unwrap().is_open();
        assert!(open("http://irq.example"));
        assert!(open("http://10.0.0.7:7070"));
        assert!(!open("https://irq.example"));
        assert!(!open("http://localhost:7070"));
        assert!(!open("http://[::1]:7070"));
    }
}
