//! What can go wrong with servers and their configuration.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::name::ServerName;
use crate::containment::ContainmentError;

/// Why a configuration of servers cannot be used. It never contains the value of a variable or of a header.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpConfigError {
    /// The file cannot be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There are servers to use, and this program was built without what speaks with them.
    #[error("this program was built without MCP")]
    Without,
    /// It is no TOML, or says what cannot be used.
    #[error("{place}: {problem}")]
    Unusable {
        /// Where: the file, the line, counted from 1, and the field, as far as they are known.
        place: String,
        /// What is wrong there, and what to do about it.
        problem: String,
    },
}

/// Why a server cannot be used. It never contains the value of a variable or of a header.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// Its process could not be started.
    #[error("the MCP server `{server}` could not be started")]
    Process {
        /// The server.
        server: ServerName,
        /// Why.
        source: ContainmentError,
    },
    /// It has no connection, and could not be given one.
    #[error(
        "the MCP server `{server}` could not be connected: {reason}{}",
        tail(stderr)
    )]
    Connect {
        /// The server.
        server: ServerName,
        /// Why.
        reason: String,
        /// The end of what it wrote to its standard error, where it is a process.
        stderr: String,
    },
    /// It did not do something in time.
    #[error(
        "the MCP server `{server}` took longer than {limit:?} {doing}; raise `limits.{field}` if it needs more{}",
        tail(stderr)
    )]
    Late {
        /// The server.
        server: ServerName,
        /// What it was to do.
        doing: &'static str,
        /// Its limit.
        limit: Duration,
        /// The field of the configuration that sets the limit.
        field: &'static str,
        /// The end of what it wrote to its standard error, where it is a process.
        stderr: String,
    },
    /// It ended, or its connection did.
    #[error("the MCP server `{server}` ended: {how}{}", tail(stderr))]
    Ended {
        /// The server.
        server: ServerName,
        /// How.
        how: String,
        /// The end of what it wrote to its standard error, where it is a process.
        stderr: String,
    },
    /// It died too often to be started again.
    #[error(
        "the MCP server `{server}` died {deaths} times within ten minutes and is not started again before {after:?} have passed; look at its command, or raise `limits.restarts`{}",
        tail(stderr)
    )]
    Restarts {
        /// The server.
        server: ServerName,
        /// How often.
        deaths: usize,
        /// How long from now.
        after: Duration,
        /// The end of what it wrote to its standard error the last time.
        stderr: String,
    },
    /// What it replied to a request cannot be read.
    #[error("the reply of the MCP server `{server}` to {doing} cannot be read: {reason}")]
    Unreadable {
        /// The server.
        server: ServerName,
        /// What it was to do.
        doing: &'static str,
        /// Why.
        reason: String,
    },
    /// A request was sent, and no reply of it came.
    #[error("the MCP server `{server}` did not reply to {doing}: {reason}")]
    Unanswered {
        /// The server.
        server: ServerName,
        /// What it was to do.
        doing: &'static str,
        /// Why.
        reason: String,
    },
    /// It refused a request.
    #[error("the MCP server `{server}` refused {doing}: {reason}")]
    Refused {
        /// The server.
        server: ServerName,
        /// What it was to do.
        doing: &'static str,
        /// In its words.
        reason: String,
    },
    /// It wants a person to log in, and none can be asked now.
    #[error(
        "the MCP server `{server}` wants a person to log in{}",
        remedy(server, scopes)
    )]
    LoginWanted {
        /// The server.
        server: ServerName,
        /// Its `WWW-Authenticate`, where it sent one.
        challenge: Option<String>,
        /// What has to be granted, where it was logged in to and that was not enough.
        scopes: Vec<String>,
    },
    /// The login to it failed.
    #[error("the login to the MCP server `{server}` failed: {reason}")]
    LoginFailed {
        /// The server.
        server: ServerName,
        /// Why.
        reason: String,
    },
    /// All servers were closed.
    #[error("the MCP server `{server}` was closed")]
    Closed {
        /// The server.
        server: ServerName,
    },
}

fn tail(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!("; the end of its standard error:\n{stderr}")
    }
}

fn remedy(server: &ServerName, scopes: &[String]) -> String {
    let command = format!("run `irq mcp-login {server} --mcp FILE");
    if scopes.is_empty() {
        return format!("; {command}`");
    }
    let scopes = scopes.join("\", \"");
    format!(" again; set `login.scopes = [\"{scopes}\"]`, then {command} --again`")
}
