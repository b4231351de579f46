//! The location of a broker, as a person writes it.

use std::fmt::{self, Debug, Display};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use async_nats::ServerAddr;
use interrupts::OwnerName;
use interrupts::store::Consumer;
use percent_encoding::percent_decode_str;

/// The tenant if none is named.
const USUAL_TENANT: &str = "local";
/// The cursor in the store if none is named.
const USUAL_CURSOR: &str = "bus";
/// How long the stream keeps an event by default.
const USUAL_AGE: Duration = Duration::from_secs(7 * 24 * 3_600);
/// The longest name of a tenant.
const LONGEST_TENANT: usize = 64;
/// The most copies of the stream that a cluster keeps.
const MOST_REPLICAS: usize = 5;

/// The location of a broker: `nats://HOST:PORT`, or `tls://HOST:PORT` if the connection must be encrypted. Several
/// hosts of a cluster have commas between them. `USER:PASSWORD@` or `TOKEN@` may precede them, and more may follow a
/// `?`:
///
/// - `tenant`: what tells this store from others at the same broker; `local` by default.
/// - `creds`: a file of credentials, as `nsc` makes it.
/// - `ca`: a file of the certificates (PEM) that the broker's is checked by, instead of the system's.
/// - `max_age`: how long the stream keeps an event, such as `36h` or `7d`; 7 days by default. Only a new stream
///   gets it.
/// - `replicas`: how many servers of a cluster keep the stream, 1 to 5; 1 by default. Only a new stream gets it.
/// - `cursor`: the name of the place in the store up to which everything was published; `bus` by default. Under
///   a new name everything is published anew that a new stream lacks.
///
/// It is shown without its password or token.
#[derive(Clone, PartialEq, Eq)]
pub struct BusLocation {
    servers: Vec<ServerAddr>,
    is_encrypted: bool,
    login: Login,
    tenant: String,
    cursor: Consumer,
    credentials: Option<PathBuf>,
    authorities: Option<PathBuf>,
    max_age: Duration,
    replicas: usize,
}

/// How a client authenticates to a server.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Login {
    Nothing,
    Token(String),
    Password { user: String, password: String },
}

/// Why a text is no location of a broker. No part of it that may be a secret is repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BusLocationError {
    /// It does not begin as one.
    #[error("it does not begin with `nats://` or `tls://`")]
    Scheme,
    /// It names no host, or none that can be one.
    #[error("`{given}` is no host with a port")]
    Host {
        /// What is written there.
        given: String,
    },
    /// A parameter is not known.
    #[error(
        "there is no parameter `{name}`; there are tenant, creds, ca, max_age, replicas and cursor"
    )]
    Unknown {
        /// Its name.
        name: String,
    },
    /// A parameter has a value that it cannot have.
    #[error("`{name}` is {expected}")]
    Value {
        /// Its name.
        name: &'static str,
        /// What it can be.
        expected: &'static str,
    },
}

impl BusLocation {
    /// What tells this store from others at the same broker.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    pub(crate) fn servers(&self) -> &[ServerAddr] {
        &self.servers
    }

    pub(crate) const fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    pub(crate) const fn login(&self) -> &Login {
        &self.login
    }

    pub(crate) const fn cursor(&self) -> &Consumer {
        &self.cursor
    }

    pub(crate) fn credentials(&self) -> Option<&Path> {
        self.credentials.as_deref()
    }

    pub(crate) fn authorities(&self) -> Option<&Path> {
        self.authorities.as_deref()
    }

    pub(crate) const fn max_age(&self) -> Duration {
        self.max_age
    }

    pub(crate) const fn replicas(&self) -> usize {
        self.replicas
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), BusLocationError> {
        let value = percent_decode_str(value).decode_utf8_lossy();
        match name {
            "tenant" => self.tenant = tenant_of(&value)?,
            "creds" => self.credentials = Some(file_of("creds", &value)?),
            "ca" => self.authorities = Some(file_of("ca", &value)?),
            "max_age" => self.max_age = age_of(&value)?,
            "replicas" => self.replicas = replicas_of(&value)?,
            "cursor" => {
                self.cursor = OwnerName::new(value).map_err(|_error| BusLocationError::Value {
                    name: "cursor",
                    expected: "a name of 1 to 200 characters",
                })?;
            }
            other => {
                let name = other.to_owned();
                return Err(BusLocationError::Unknown { name });
            }
        }
        Ok(())
    }
}

impl FromStr for BusLocation {
    type Err = BusLocationError;

    fn from_str(text: &str) -> Result<Self, BusLocationError> {
        let (scheme, rest) = text.split_once("://").ok_or(BusLocationError::Scheme)?;
        let is_encrypted = match scheme {
            "nats" => false,
            "tls" => true,
            _ => return Err(BusLocationError::Scheme),
        };
        let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
        let address = address.strip_suffix('/').unwrap_or(address);
        let (login, hosts) = match address.rsplit_once('@') {
            Some((login, hosts)) => (login_of(login), hosts),
            None => (Login::Nothing, address),
        };
        let servers = hosts.split(',').map(|host| server_of(scheme, host));
        let cursor = OwnerName::new(USUAL_CURSOR).map_err(|_error| BusLocationError::Scheme)?;
        let mut location = Self {
            servers: servers.collect::<Result<_, _>>()?,
            is_encrypted,
            login,
            tenant: USUAL_TENANT.to_owned(),
            cursor,
            credentials: None,
            authorities: None,
            max_age: USUAL_AGE,
            replicas: 1,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            location.set(name, value)?;
        }
        Ok(location)
    }
}

fn login_of(text: &str) -> Login {
    let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    match text.split_once(':') {
        Some((user, password)) => Login::Password {
            user: decoded(user),
            password: decoded(password),
        },
        None => Login::Token(decoded(text)),
    }
}

fn server_of(scheme: &str, host: &str) -> Result<ServerAddr, BusLocationError> {
    let wrong = || BusLocationError::Host {
        given: host.to_owned(),
    };
    let server: ServerAddr = format!("{scheme}://{host}")
        .parse()
        .map_err(|_error| wrong())?;
    match host.contains(['/', '#']) || server.host().is_empty() {
        true => Err(wrong()),
        false => Ok(server),
    }
}

/// A tenant is a token of a subject as it is.
fn tenant_of(text: &str) -> Result<String, BusLocationError> {
    let is_token = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    match is_token && (1..=LONGEST_TENANT).contains(&text.len()) {
        true => Ok(text.to_owned()),
        false => Err(BusLocationError::Value {
            name: "tenant",
            expected: "1 to 64 letters, digits, `-` and `_`",
        }),
    }
}

fn file_of(name: &'static str, text: &str) -> Result<PathBuf, BusLocationError> {
    match text.is_empty() {
        true => Err(BusLocationError::Value {
            name,
            expected: "the path of a file",
        }),
        false => Ok(text.into()),
    }
}

fn age_of(text: &str) -> Result<Duration, BusLocationError> {
    let wrong = BusLocationError::Value {
        name: "max_age",
        expected: "a time of an hour or more, such as `36h` or `7d`",
    };
    let seconds = |unit: &str| match unit {
        "h" => Some(3_600),
        "d" => Some(24 * 3_600),
        _ => None,
    };
    let digits = text.trim_end_matches(|last: char| !last.is_ascii_digit());
    let unit = seconds(&text[digits.len()..]);
    let count = digits.parse::<u64>().ok().filter(|count| *count > 0);
    let age = count
        .zip(unit)
        .and_then(|(count, unit)| count.checked_mul(unit));
    age.map(Duration::from_secs).ok_or(wrong)
}

fn replicas_of(text: &str) -> Result<usize, BusLocationError> {
    let count = text.parse().ok();
    let count = count.filter(|count| (1..=MOST_REPLICAS).contains(count));
    count.ok_or(BusLocationError::Value {
        name: "replicas",
        expected: "a number from 1 to 5",
    })
}

impl Display for BusLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "tls" } else { "nats" };
        write!(formatter, "{scheme}://")?;
        if let Login::Password { user, .. } = &self.login {
            write!(formatter, "{user}@")?;
        }
        let hosts = self.servers.iter().map(|server| {
            let host = server.host();
            match host.contains(':') {
                true => format!("[{host}]:{}", server.port()),
                false => format!("{host}:{}", server.port()),
            }
        });
        formatter.write_str(&hosts.collect::<Vec<_>>().join(","))?;
        write!(formatter, "?tenant={}", self.tenant)
    }
}

impl Debug for BusLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BusLocation({self})")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::BusLocation;

    fn location(text: &str) -> BusLocation {
        text.parse().unwrap()
    }

    #[test]
    fn a_password_and_a_token_are_never_shown() {
        for (given, shown) in [
            ("nats://localhost", "nats://localhost:4222?tenant=local"),
            (
                "nats://ada:secret@broker:5222?tenant=acme",
                "nats://ada@broker:5222?tenant=acme",
            ),
            (
                "tls://secret@[::1],two.example:4333/?tenant=a-b_1",
                "tls://[::1]:4222,two.example:4333?tenant=a-b_1",
            ),
        ] {
            assert_eq!(location(given).to_string(), shown);
            assert!(!format!("{:?}", location(given)).contains("secret"));
        }
    }

    #[test]
    fn what_is_said_after_the_question_mark_holds() {
        let usual = location("nats://localhost");
        assert_eq!(usual.max_age(), Duration::from_secs(604_800));
        assert_eq!((usual.cursor().as_str(), usual.replicas()), ("bus", 1));
        let said = location(
            "nats://localhost?max_age=36h&replicas=3&cursor=again&creds=%2Fetc%2Fa.creds&ca=ca.pem",
        );
        assert_eq!(said.max_age(), Duration::from_secs(36 * 3_600));
        assert_eq!((said.cursor().as_str(), said.replicas()), ("again", 3));
        assert_eq!(said.credentials(), Some("/etc/a.creds".as_ref()));
        assert_eq!(said.authorities(), Some("ca.pem".as_ref()));
    }

    #[test]
    fn what_names_no_broker_is_refused_with_the_remedy_and_without_secrets() {
        for (text, remedy) in [
            ("localhost:4222", "nats://"),
            ("http://secret@localhost", "nats://"),
            ("nats://secret@", "host"),
            ("nats://secret@lo cal", "host"),
            ("nats://localhost:99999", "port"),
            ("nats://localhost?tenant=a.b", "letters"),
            ("nats://localhost?tenant=", "letters"),
            ("nats://localhost?max_age=7", "7d"),
            ("nats://localhost?max_age=0d", "7d"),
            ("nats://localhost?replicas=6", "1 to 5"),
            ("nats://localhost?creds=", "file"),
            ("nats://localhost?no_such=secret", "no_such"),
        ] {
            let refused = text.parse::<BusLocation>().unwrap_err().to_string();
            assert!(refused.contains(remedy), "{text}: {refused}");
            assert!(!refused.contains("secret"), "{text}: {refused}");
        }
    }
}
