//! Which servers there are, read from TOML.

mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::{self, Debug};
use std::path::{Path, PathBuf};

use http::HeaderMap;

use super::error::McpConfigError;
use super::limits::McpLimits;
use super::login::LoginTerms;
use super::name::ServerName;
use crate::containment::ToolEnvironment;

/// Which servers there are.
#[derive(Debug, Clone, Default)]
pub struct McpConfig {
    /// Each of them, by its name.
    pub servers: BTreeMap<ServerName, McpServerConfig>,
}

/// One server.
#[derive(Debug, Clone)]
pub struct McpServerConfig {
    /// How it is reached.
    pub reach: ServerTransport,
    /// Its position in the configuration: if not all tools can be offered, those of the first servers are.
    pub place: usize,
    /// The tools of it that are used, by the names that it gives them; `None` is all.
    pub tools: Option<BTreeSet<String>>,
    /// Whether its word is taken that a tool changes nothing, or nothing more when it is called again: calls whose end
    /// is unknown may then be repeated without asking a person.
    pub trust_hints: bool,
    /// How long it may take.
    pub limits: McpLimits,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum ServerTransport {
    /// It is a program that we start.
    Process(ProcessServer),
    /// It is somewhere on the network.
    Http(HttpServer),
}

/// A server that is a program.
#[derive(Debug, Clone)]
pub struct ProcessServer {
    /// The program: a path, or a name to look for in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: ToolEnvironment,
    /// The folder that it starts in; `None` is that of the configuration of all servers.
    pub directory: Option<PathBuf>,
}

/// A server that speaks streamable HTTP.
#[derive(Clone)]
pub struct HttpServer {
    /// Where.
    pub url: String,
    /// What is sent with each request. The values may be secrets.
    pub headers: HeaderMap,
    /// How it is logged in to, where it wants that and `headers` have no `Authorization`.
    pub login: LoginTerms,
}

impl Debug for HttpServer {
    /// The names of the headers alone.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(http::HeaderName::as_str).collect();
        formatter
            .debug_struct("HttpServer")
            .field("url", &self.url)
            .field("headers", &names)
            .field("login", &self.login)
            .finish()
    }
}

impl McpConfig {
    /// Reads a file. Values that it takes from variables are looked up in our own environment.
    ///
    /// # Errors
    ///
    /// [`McpConfigError`]: it names the file, the line and the field, and what to do.
    pub fn read(path: &Path) -> Result<Self, McpConfigError> {
        if cfg!(not(feature = "mcp")) {
            return Err(McpConfigError::Without);
        }
        let text = std::fs::read_to_string(path).map_err(|source| McpConfigError::Read {
            path: path.to_owned(),
            source,
        })?;
        let mut read = Self::from_toml(&text, &|name| std::env::var_os(name));
        if let Err(McpConfigError::Unusable { place, .. }) = &mut read {
            *place = format!("{}: {place}", path.display());
        }
        read
    }

    /// Reads a text; `variables` looks up variables of the environment.
    ///
    /// # Errors
    ///
    /// [`McpConfigError`]: it names the line or the field, and what to do.
    pub fn from_toml(
        text: &str,
        variables: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self, McpConfigError> {
        written::read(text, variables)
    }
}
