//! What can go wrong with servers and their configuration.

use std::io;
use std::path::PathBuf;

use super::name::ServerName;

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
    /// It cannot be used, or has refused a request.
    #[error("the MCP server `{server}` {problem}")]
    Unusable {
        /// The server.
        server: ServerName,
        /// What is the matter with it, as the rest of the sentence.
        problem: String,
    },
    /// It has a request, and what it did is not known.
    #[error("the MCP server `{server}` {problem}")]
    Unseen {
        /// The server.
        server: ServerName,
        /// What it did instead of a reply, as the rest of the sentence.
        problem: String,
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
}

fn remedy(server: &ServerName, scopes: &[String]) -> String {
    let command = format!("run `irq mcp-login {server} --mcp FILE");
    if scopes.is_empty() {
        return format!("; {command}`");
    }
    let scopes = scopes.join("\", \"");
    format!(" again; set `login.scopes = [\"{scopes}\"]`, then {command} --again`")
}
