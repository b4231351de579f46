//! Where a store in PostgreSQL is, as a person writes it.

use std::fmt::{self, Debug, Display};
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::SqlState;

use crate::location::LocationError;

/// The schema that the tables lie in where nothing else is said.
const USUAL_SCHEMA: &str = "irq";

/// The longest name of a schema (PostgreSQL, "Identifiers and Key Words": 63 bytes).
const LONGEST_NAME: usize = 63;

/// How long it may take until a connection is there.
const CONNECTING: Duration = Duration::from_secs(5);

/// How long the server may be silent before the connection is given up: no longer than the server waits for a process
/// that holds the store's lock and does nothing.
const SILENCE: Duration = Duration::from_secs(15);

/// The same for the server: a machine that is cut off ends no session, and by itself PostgreSQL looks for it after two hours
/// (`tcp_keepalives_idle`, as the system has it). Until then each such session would take the place of another one.
pub(super) const SILENCE_AT_SERVER: &str = "SET tcp_user_timeout = '15s'; \
    SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 2";

/// The same, said when a session is asked for: one whose machine is cut off before it says anything else is ended, too.
const SILENCE_FROM_THE_START: &str = "-c tcp_user_timeout=15s -c tcp_keepalives_idle=5 \
    -c tcp_keepalives_interval=5 -c tcp_keepalives_count=2";

/// A store in a PostgreSQL database: `postgres://USER@HOST:PORT/DATABASE`, with more after `?`:
///
/// - `schema`: the schema of the tables; `irq` where it is not said.
/// - `password_file`: a file that contains the password and nothing else.
/// - `sslmode`: `disable`, or `require`, which also checks the server's certificate. Without it, TLS is required of every
///   server that is not on this machine.
/// - `sslrootcert`: a file of the certificates (PEM) that the server's is checked by, instead of the system's.
/// - what else the driver knows: several hosts, `connect_timeout`, `application_name`.
///
/// It is shown without its password.
#[derive(Clone)]
pub struct PostgresLocation {
    given: String,
    config: Box<Config>,
    /// The same, each with one of the hosts.
    each: Arc<[Config]>,
    schema: String,
    password_file: Option<PathBuf>,
    root_certificates: Option<PathBuf>,
    /// Whether the server was there before and is not now: said once, however many connections are tried.
    away: Arc<AtomicBool>,
}

impl PostgresLocation {
    /// The schema of the tables.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Certificates that the server's is checked by, instead of the system's.
    pub(super) fn root_certificates(&self) -> Option<&Path> {
        self.root_certificates.as_deref()
    }

    /// Notes that the server is away, and says whether that is news.
    pub(super) fn is_away(&self) -> bool {
        !self.away.swap(true, Ordering::Relaxed)
    }

    /// Notes that the server is there, and says whether that is news.
    pub(super) fn is_back(&self) -> bool {
        self.away.swap(false, Ordering::Relaxed)
    }

    /// Whether the connection is encrypted.
    pub(super) fn has_tls(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }

    /// How to connect to each of the hosts, with the password as the file has it now: it may have been changed.
    pub(super) fn configs(&self) -> std::io::Result<Vec<Config>> {
        let mut configs = self.each.to_vec();
        if let Some(file) = &self.password_file {
            let password = std::fs::read_to_string(file)?;
            for config in &mut configs {
                config.password(password.trim_end_matches(['\r', '\n']));
            }
        }
        Ok(configs)
    }

    /// How long one host may take until a session with it has begun. A server that hangs takes a connection, for that
    /// is done by its machine, and then says nothing.
    pub(super) fn longest_opening(&self) -> Duration {
        2 * self
            .config
            .get_connect_timeout()
            .copied()
            .unwrap_or(CONNECTING)
    }

    /// The file that contains the password.
    pub(super) fn password_file(&self) -> Option<&Path> {
        self.password_file.as_deref()
    }
}

impl FromStr for PostgresLocation {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, LocationError> {
        let wrong = |reason: String| LocationError::Postgres { reason };
        let (address, query) = text.split_once('?').unwrap_or((text, ""));
        let mut schema = USUAL_SCHEMA.to_owned();
        let (mut password_file, mut root_certificates, mut mode) = (None, None, None);
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decoded = percent_decode_str(value).decode_utf8();
            let decoded = decoded.map_err(|_bytes| wrong(format!("`{name}` is no text")))?;
            match name {
                "schema" => schema = decoded.into_owned(),
                "password_file" => password_file = Some(PathBuf::from(&*decoded)),
                "sslrootcert" => root_certificates = Some(PathBuf::from(&*decoded)),
                "sslmode" => mode = Some(mode_of(&decoded).map_err(wrong)?),
                _ => others.push(pair),
            }
        }
        check_schema(&schema).map_err(wrong)?;
        let rest = match others.is_empty() {
            true => address.to_owned(),
            false => format!("{address}?{}", others.join("&")),
        };
        let parsed = |address: &str| {
            let parsed = address.parse::<Config>();
            parsed.map_err(|error| wrong(super::error::in_words(&error)))
        };
        let mut config = parsed(&rest)?;
        if config.get_hosts().is_empty() {
            return Err(wrong("it names no host".to_owned()));
        }
        if config.get_dbname().is_none() {
            return Err(wrong("it names no database".to_owned()));
        }
        let is_here = config.get_hosts().iter().all(is_on_this_machine);
        let mode = mode.unwrap_or(match is_here && root_certificates.is_none() {
            true => SslMode::Disable,
            false => SslMode::Require,
        });
        let each = by_host(&rest).into_iter().map(|address| parsed(&address));
        let mut each = each.collect::<Result<Vec<_>, _>>()?;
        for config in each.iter_mut().chain([&mut config]) {
            settle(config, mode);
        }
        Ok(Self {
            given: text.to_owned(),
            config: Box::new(config),
            each: each.into(),
            schema,
            password_file,
            root_certificates,
            away: Arc::default(),
        })
    }
}

/// What all connections have.
fn settle(config: &mut Config, mode: SslMode) {
    let connecting = config.get_connect_timeout().copied().unwrap_or(CONNECTING);
    config
        .ssl_mode(mode)
        .connect_timeout(connecting)
        .tcp_user_timeout(SILENCE)
        .keepalives_idle(SILENCE / 3)
        .keepalives_interval(SILENCE / 3)
        .keepalives_retries(2)
        // Of several hosts the one that takes what is written.
        .target_session_attrs(TargetSessionAttrs::ReadWrite);
    if config.get_application_name().is_none() {
        config.application_name("irq");
    }
}

/// Connects to a host, and tells the server from the start for how long it waits in silence. A pooler before it may take
/// no such settings: then it connects without them, and [`SILENCE_AT_SERVER`] sets them in the session.
///
/// # Cancel safety
///
/// Dropped, no connection is made.
pub(super) async fn connected<T, F>(
    config: &Config,
    connect: impl Fn(Config) -> F,
) -> Result<T, tokio_postgres::Error>
where
    F: Future<Output = Result<T, tokio_postgres::Error>>,
{
    let own = config.get_options().unwrap_or_default();
    let mut asked = config.clone();
    asked.options(format!("{own} {SILENCE_FROM_THE_START}").trim_start());
    match connect(asked).await {
        Err(error) if error.code() == Some(&SqlState::PROTOCOL_VIOLATION) => {
            connect(config.clone()).await
        }
        connected => connected,
    }
}

/// An address for each of the hosts between `@` and the path. If hosts are elsewhere, the address is the only one.
fn by_host(address: &str) -> Vec<String> {
    let begin = address.find("://").map_or(0, |at| at + "://".len());
    let end = address[begin..].find(['/', '?']);
    let end = end.map_or(address.len(), |at| begin + at);
    let begin = address[begin..end]
        .rfind('@')
        .map_or(begin, |at| begin + at + 1);
    let hosts = address[begin..end].split(',');
    let with = |host: &str| format!("{}{host}{}", &address[..begin], &address[end..]);
    hosts.map(with).collect()
}

fn mode_of(text: &str) -> Result<SslMode, String> {
    match text {
        "disable" => Ok(SslMode::Disable),
        "require" | "verify-full" => Ok(SslMode::Require),
        other => Err(format!(
            "`sslmode` is `{other}`; it can be `disable`, or `require`, which checks the certificate"
        )),
    }
}

/// A name that is written into statements.
fn check_schema(name: &str) -> Result<(), String> {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name
            .chars()
            .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
        && name.len() <= LONGEST_NAME
        && !name.starts_with("pg_");
    match is_name {
        true => Ok(()),
        false => Err(format!(
            "the schema is `{name}`; a name has up to {LONGEST_NAME} small letters, digits and `_`, \
             begins with a letter, and not with `pg_`"
        )),
    }
}

fn is_on_this_machine(host: &Host) -> bool {
    match host {
        #[cfg(unix)]
        Host::Unix(_folder) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
        }
    }
}

impl Display for PostgresLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The password is between the user and the last `@` before the path.
        let after_scheme = self.given.find("://").map_or(0, |at| at + "://".len());
        let (scheme, rest) = self.given.split_at(after_scheme);
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = match authority.rsplit_once('@') {
            Some((user, host)) => {
                let user = user.split_once(':').map_or(user, |(user, _password)| user);
                format!("{user}@{host}")
            }
            None => authority.to_owned(),
        };
        write!(formatter, "{scheme}{authority}")?;
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        formatter.write_str(path)?;
        let shown: Vec<_> = query
            .split('&')
            .filter(|pair| !pair.is_empty() && !pair.starts_with("password="))
            .collect();
        match shown.is_empty() {
            true => Ok(()),
            false => write!(formatter, "?{}", shown.join("&")),
        }
    }
}

impl Debug for PostgresLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PostgresLocation({self})")
    }
}

impl PartialEq for PostgresLocation {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl Eq for PostgresLocation {}

impl Hash for PostgresLocation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.given.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::Config;
    use tokio_postgres::config::Host;

    use super::PostgresLocation;
    use crate::location::LocationError;

    fn location(text: &str) -> PostgresLocation {
        text.parse().unwrap()
    }

    #[test]
    fn a_password_is_never_shown() {
        for (given, shown) in [
            ("postgres://ada@db/runs", "postgres://ada@db/runs"),
            (
                "postgres://ada:se@cret@db:5433/runs",
                "postgres://ada@db:5433/runs",
            ),
            (
                "postgres://db/runs?user=ada&password=secret&schema=two",
                "postgres://db/runs?user=ada&schema=two",
            ),
        ] {
            assert_eq!(location(given).to_string(), shown);
            assert!(!format!("{:?}", location(given)).contains("secret"));
        }
    }

    #[test]
    fn each_host_is_tried_by_itself() {
        for (given, hosts) in [
            ("postgres://ada@one:1,two:2/runs", vec!["one", "two"]),
            (
                "postgres://ada:se%40cret@[::1]:1,two:2/runs?connect_timeout=3",
                vec!["::1", "two"],
            ),
            ("postgres://ada@/runs?host=one,two", vec!["one,two"]),
        ] {
            let configs = location(given).configs().unwrap();
            let name = |host: &Host| match host {
                Host::Tcp(name) => name.clone(),
                Host::Unix(path) => path.display().to_string(),
            };
            let of = |config: &Config| {
                let names: Vec<_> = config.get_hosts().iter().map(name).collect();
                names.join(",")
            };
            assert_eq!(configs.iter().map(of).collect::<Vec<_>>(), hosts, "{given}");
            assert!(configs.iter().all(|it| it.get_user() == Some("ada")));
        }
    }

    #[test]
    fn a_server_elsewhere_is_reached_by_tls_unless_that_is_refused() {
        assert!(!location("postgres://127.0.0.1/runs").has_tls());
        assert!(!location("postgres://ada@localhost,[::1]/runs").has_tls());
        assert!(location("postgres://ada@db.example/runs").has_tls());
        assert!(location("postgres://localhost/runs?sslmode=require").has_tls());
        assert!(location("postgres://localhost/runs?sslrootcert=ca.pem").has_tls());
        assert!(!location("postgres://db.example/runs?sslmode=disable").has_tls());
    }

    #[test]
    fn what_names_no_store_is_refused_with_the_remedy() {
        for (text, remedy) in [
            ("postgres:///runs", "no host"),
            ("postgres://db", "no database"),
            ("postgres://db/runs?schema=Runs", "small letters"),
            ("postgres://db/runs?schema=pg_x", "pg_"),
            ("postgres://db/runs?sslmode=prefer", "disable"),
            ("postgres://db/runs?no_such=1", "no_such"),
        ] {
            let refused = text.parse::<PostgresLocation>().unwrap_err();
            assert!(matches!(refused, LocationError::Postgres { .. }));
            assert!(refused.to_string().contains(remedy), "{text}: {refused}");
        }
    }
}
