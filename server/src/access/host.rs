//! Under which names the server may be reached, and from which pages.
//!
//! A browser that was lured to a name which its attacker resolves to this machine sends that name as the host;
//! addresses cannot be rebound like that, so any address is accepted.

use std::net::IpAddr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Uri};
use url::{Host, Url};

/// The names of this server.
#[derive(Debug, Clone)]
pub(crate) struct HostNames {
    names: Vec<String>,
    /// Whether pages of this server come over TLS: then a page that did not is from another server.
    is_secure: bool,
}

/// What is wrong with the names in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// The host is not this server.
    Host,
    /// The host is none.
    Malformed,
    /// The page that sends it is of another site.
    Origin,
}

impl HostNames {
    /// `localhost`, any address, and these names.
    pub(crate) fn new(names: &[String], is_secure: bool) -> Self {
        let mut names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        names.push("localhost".to_owned());
        Self { names, is_secure }
    }

    /// Checks the host of a request, and its origin if it names one.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Foreign> {
        let host = authority(uri, headers).ok_or(Foreign::Host)?;
        let (name, port) = split(&host);
        let is_port = |port: &str| port.parse::<u16>().is_ok();
        if host.contains('@') || !port.is_none_or(is_port) {
            return Err(Foreign::Malformed);
        }
        if !self.knows(name) {
            return Err(Foreign::Host);
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None)
                if origin
                    .to_str()
                    .is_ok_and(|origin| self.is_same(origin, &host)) =>
            {
                Ok(())
            }
            (Some(_), _) => Err(Foreign::Origin),
        }
    }

    /// Whether the page at an origin was served by this host.
    fn is_same(&self, origin: &str, host: &str) -> bool {
        let is_secure = origin.starts_with("https://");
        (is_secure || !self.is_secure) && is_same(origin, host)
    }

    fn knows(&self, name: &str) -> bool {
        let bare = name
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .unwrap_or(name);
        bare.parse::<IpAddr>().is_ok()
            || self
                .names
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known))
    }
}

/// The host that a request names: exactly one, or it is not trusted.
fn authority(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return None;
    }
    let host = host.map(|host| host.to_str().ok()).unwrap_or_default();
    match (uri.authority(), host) {
        (None, host) => host.map(str::to_owned),
        (Some(authority), None) => Some(authority.to_string()),
        (Some(authority), Some(host)) => {
            (authority.as_str().eq_ignore_ascii_case(host)).then(|| host.to_owned())
        }
    }
}

fn split(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        // The last colon of a bare IPv6 address is inside the brackets.
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        Some(_) | None => (host, None),
    }
}

/// Whether the page at an origin was served by this host. An origin without a host, such as `null`, was not.
fn is_same(origin: &str, host: &str) -> bool {
    let Ok(origin) = Url::parse(origin) else {
        return false;
    };
    let default_port = match origin.scheme() {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };
    let (name, port) = split(host);
    let port = match port {
        Some(port) => port.parse().ok(),
        None => Some(default_port),
    };
    let same_name = match (origin.host(), Host::parse(name)) {
        (Some(of_page), Ok(of_request)) => of_page == of_request.as_ref_host(),
        (Some(_) | None, _) => false,
    };
    same_name && port.is_some() && origin.port_or_known_default() == port
}

/// A view of a host that can be compared with one of a URL.
trait AsRefHost {
    fn as_ref_host(&self) -> Host<&str>;
}

impl AsRefHost for Host<String> {
    fn as_ref_host(&self) -> Host<&str> {
        match self {
            Self::Domain(name) => Host::Domain(name),
            Self::Ipv4(address) => Host::Ipv4(*address),
            Self::Ipv6(address) => Host::Ipv6(*address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Foreign, HostNames};
    use axum::http::{HeaderMap, HeaderValue, Uri, header};

    fn check(host: &str, origin: Option<&str>) -> Result<(), Foreign> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::try_from(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::try_from(origin).unwrap());
        }
        let names = HostNames::new(&["irq.example.org".to_owned()], false);
        names.check(&Uri::from_static("/v1/runs"), &headers)
    }

    #[test]
    fn the_server_goes_by_localhost_by_addresses_and_by_its_own_names() {
        for host in [
            "localhost",
            "localhost:7070",
            "LOCALHOST:1",
            "127.0.0.1:7070",
            "[::1]:7070",
            "10.0.0.7",
            "irq.example.org:443",
        ] {
            assert_eq!(check(host, None), Ok(()), "{host}");
        }
        for host in [
            "evil.example.org",
            "localhost.evil.example.org",
            "127.0.0.1.nip.io",
            "irq.example.org.",
            "",
        ] {
            assert_eq!(check(host, None), Err(Foreign::Host), "{host}");
        }
    }

    #[test]
    fn what_is_no_host_with_a_port_is_refused_before_it_is_looked_at() {
        for host in [
            "evil.example.org@127.0.0.1:7070",
            "127.0.0.1:80@evil.example.org",
            "localhost:@evil.example.org",
            "localhost:port",
            "localhost:99999",
        ] {
            assert_eq!(check(host, None), Err(Foreign::Malformed), "{host}");
        }
    }

    #[test]
    fn over_tls_a_page_that_came_without_it_is_anothers() {
        let check = |origin: &'static str, is_secure| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:443"));
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            HostNames::new(&[], is_secure).check(&Uri::from_static("/"), &headers)
        };
        assert_eq!(check("https://127.0.0.1", true), Ok(()));
        assert_eq!(check("http://127.0.0.1:443", true), Err(Foreign::Origin));
        assert_eq!(check("http://127.0.0.1:443", false), Ok(()));
    }

    #[test]
    fn a_page_of_another_origin_is_foreign_even_on_the_same_machine() {
        let host = "127.0.0.1:7070";
        assert_eq!(check(host, Some("http://127.0.0.1:7070")), Ok(()));
        for origin in [
            "http://127.0.0.1:7071",
            "http://localhost:7070",
            "http://evil.example.org",
            "null",
            "file://",
            "chrome-extension://abc",
            "http://127.0.0.1:7070.evil.example.org",
        ] {
            assert_eq!(check(host, Some(origin)), Err(Foreign::Origin), "{origin}");
        }
    }
}
