//! Why a server cannot be reached, in words of its own and with what helps.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;

/// A connection that did not come about, or led to no answer.
#[derive(Debug)]
pub(crate) struct Unreached {
    why: Why,
    source: reqwest::Error,
}

/// Why a server cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Refused,
    Closed,
    Late,
    Nameless,
    Untrusted,
    NoTls,
    NoWay,
    Unknown,
}

impl Unreached {
    pub(crate) fn of(source: reqwest::Error) -> Self {
        let why = Why::of(&source);
        Self { why, source }
    }

    /// What may help, where that is known.
    pub(crate) const fn hint(&self) -> Option<&'static str> {
        match self.why {
            Why::Untrusted => Some(
                "name the file with the authority's certificate as `ca_certificate` in the model's profile, or check --base-url",
            ),
            Why::NoTls => Some("check whether --base-url begins with http:// or https://"),
            Why::Nameless => Some("check the name in --base-url, and the network"),
            Why::Refused | Why::Closed | Why::Late | Why::NoWay | Why::Unknown => None,
        }
    }
}

impl Why {
    fn of(error: &reqwest::Error) -> Self {
        let mut why = Self::Unknown;
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(cause) = next {
            next = cause.source();
            let words = cause.to_string().to_ascii_lowercase();
            if words.contains("certificate") {
                return Self::Untrusted;
            }
            if words.contains("dns error") || words.contains("failed to lookup") {
                return Self::Nameless;
            }
            if words.contains("corrupt message") || words.contains("invalidcontenttype") {
                return Self::NoTls;
            }
            if words.contains("closed before message completed") {
                why = Self::Closed;
            }
            if let Some(error) = cause.downcast_ref::<io::Error>() {
                why = Self::of_kind(error.kind()).unwrap_or(why);
            }
        }
        if why == Self::Unknown && error.is_timeout() {
            return Self::Late;
        }
        why
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the operating system has many more, and none of them says more than its own words"
    )]
    fn of_kind(kind: io::ErrorKind) -> Option<Self> {
        use io::ErrorKind as Kind;
        Some(match kind {
            Kind::ConnectionRefused => Self::Refused,
            Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::BrokenPipe
            | Kind::UnexpectedEof => Self::Closed,
            Kind::TimedOut => Self::Late,
            Kind::HostUnreachable | Kind::NetworkUnreachable => Self::NoWay,
            _ => return None,
        })
    }
}

impl Display for Unreached {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.why {
            Why::Refused => "nothing listens there",
            Why::Closed => "it closed the connection before it had said anything",
            Why::Late => "no connection came about in time",
            Why::Nameless => "its name is unknown",
            Why::Untrusted => "its certificate is not trusted",
            Why::NoTls => "it does not speak TLS",
            Why::NoWay => "no way leads there",
            Why::Unknown => "the connection failed",
        })
    }
}

impl Error for Unreached {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}
