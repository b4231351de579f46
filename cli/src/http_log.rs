//! `--debug-http`: what is sent to models' servers and what they answer, as it goes over the connection, with keys
//! blanked.
//!
//! The HTTP client reports each read and each write of a connection through the facade `log`, if it is asked to; all
//! other records there are dropped.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use log::{LevelFilter, Log, Metadata, Record};

use crate::exit::{Exit, Failure};

/// The client's name for the place that reports on connections.
const CONNECTIONS: &str = "reqwest::connect::verbose";

/// Headers whose value is never shown.
const SECRET_HEADERS: [&str; 6] = [
    "authorization: ",
    "x-api-key: ",
    "x-goog-api-key: ",
    "api-key: ",
    "cookie: ",
    "proxy-authorization: ",
];

/// What names of environment variables have in them whose value is never shown.
const SECRET_NAMES: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// The shortest value that is looked for: shorter ones occur in other words too.
const SHORTEST_SECRET: usize = 8;

/// Set once, when writing begins.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// In place of what is not shown.
const BLANK: &str = "[blanked]";

/// Begins to append what goes over the connections to models to a file.
///
/// # Errors
///
/// If the file cannot be opened.
pub(crate) fn begin(path: &Path) -> Result<(), Failure> {
    let opened = OpenOptions::new()
        .create(true)
        .append(true)
        // What is asked and answered is for the user alone.
        .mode(0o600)
        .open(path);
    let file = opened.map_err(|error| {
        let text = format!("--debug-http: cannot write {}: {error}", path.display());
        Failure::new(Exit::NotFound, text)
    })?;
    let secrets = std::env::vars()
        .filter(|(name, _)| SECRET_NAMES.iter().any(|part| name.contains(part)))
        .map(|(_, value)| value)
        .filter(|value| value.len() >= SHORTEST_SECRET)
        .collect();
    let log = HttpLog {
        file: Mutex::new(file),
        secrets,
    };
    // There is none before: this is the first thing that the program does.
    let _set = log::set_boxed_logger(Box::new(log));
    log::set_max_level(LevelFilter::Trace);
    IS_ON.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether connections are written down.
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

struct HttpLog {
    file: Mutex<File>,
    /// Text that is blanked wherever it occurs.
    secrets: Vec<String>,
}

impl HttpLog {
    fn write(&self, text: &str) -> io::Result<()> {
        let Some(entry) = entry(text, &self.secrets) else {
            return Ok(());
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let at = Timestamp::now();
        writeln!(file, "{at:.3} {entry}")
    }
}

impl Log for HttpLog {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        // The client asks for its module as a whole; `log` below selects what is written.
        true
    }

    fn log(&self, record: &Record<'_>) {
        if record.target() == CONNECTIONS {
            // A full disk must not end the run.
            let _written = self.write(&record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// What is written of one read or write: the connection, the direction, and the bytes as text.
fn entry(told: &str, secrets: &[String]) -> Option<String> {
    let (connection, rest) = told.split_once(' ')?;
    let (what, bytes) = rest.split_once(": ")?;
    let direction = if what == "read" { '<' } else { '>' };
    let bytes = bytes.strip_prefix("b\"")?.strip_suffix('"')?;
    let mut text = unescaped(bytes);
    for secret in secrets {
        text = text.replace(secret.as_str(), BLANK);
    }
    let lines: Vec<String> = text.lines().map(blanked).collect();
    Some(format!("{connection} {direction} {}", lines.join("\n  ")))
}

/// The line, without the value of a header that contains a key.
fn blanked(line: &str) -> String {
    let lower = line.to_ascii_lowercase();
    let header = SECRET_HEADERS.iter().find(|name| lower.starts_with(**name));
    match header.and_then(|name| line.get(..name.len())) {
        Some(name) => format!("{name}{BLANK}"),
        None => line.to_owned(),
    }
}

/// The bytes as they were, as far as they are text: the client writes them as Rust's sources do.
fn unescaped(bytes: &str) -> String {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut signs = bytes.bytes();
    while let Some(sign) = signs.next() {
        if sign != b'\\' {
            plain.push(sign);
            continue;
        }
        match signs.next() {
            Some(b'n') => plain.push(b'\n'),
            Some(b'r') => plain.push(b'\r'),
            Some(b't') => plain.push(b'\t'),
            Some(b'0') => plain.push(0),
            Some(b'x') => {
                let digits: Vec<u8> = signs.by_ref().take(2).collect();
                let digits = String::from_utf8(digits).unwrap_or_default();
                plain.extend(u8::from_str_radix(&digits, 16).ok());
            }
            Some(other) => plain.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::entry;

    #[test]
    fn a_request_is_readable_and_its_key_is_blanked() {
        let told = r#"0a1b2c3d write: b"POST /v1/chat HTTP/1.1\r\nAuthorization: Bearer sk-very-secret\r\nhost: x\r\n\r\n{\"a\":\"\xc3\xa9\"}""#;
        let text = entry(told, &[]).unwrap();
        assert_eq!(
            text,
            "0a1b2c3d > POST /v1/chat HTTP/1.1\n  Authorization: [blanked]\n  host: x\n  \n  {\"a\":\"é\"}"
        );
    }

    #[test]
    fn a_key_that_a_server_says_again_is_blanked_too() {
        let told = r#"0a1b2c3d read: b"Incorrect API key provided: sk-very-secret.""#;
        let text = entry(told, &["sk-very-secret".to_owned()]).unwrap();
        assert_eq!(text, "0a1b2c3d < Incorrect API key provided: [blanked].");
    }

    #[test]
    fn what_is_no_connection_is_left_out() {
        assert_eq!(entry("something else", &[]), None);
    }
}
