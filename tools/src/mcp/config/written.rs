//! The configuration as it is written, before any of its values is looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use toml::Spanned;

use super::limits::Limits;
use super::login::Login;
use super::{HttpServer, McpServerConfig, ProcessServer, ServerTransport};
use crate::containment::ToolEnvironment;
use crate::mcp::error::McpConfigError;
use crate::mcp::name::ServerName;
use crate::mcp::value::{Missing, Value, Variables};

/// The headers that the protocol itself sets.
const RESERVED: [&str; 4] = [
    "accept",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    #[serde(default)]
    servers: BTreeMap<ServerName, Spanned<ServerTable>>,
}

/// The table of one server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerTable {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, Value>>,
    directory: Option<PathBuf>,
    url: Option<String>,
    headers: Option<BTreeMap<String, Value>>,
    login: Option<Login>,
    tools: Option<BTreeSet<String>>,
    #[serde(default)]
    trust_hints: bool,
    #[serde(default)]
    limits: Limits,
}

/// Reads the text. What the parser quotes of it is left out: it may be a secret.
pub(super) fn read(
    text: &str,
) -> Result<BTreeMap<ServerName, Spanned<ServerTable>>, McpConfigError> {
    let whole: Result<Whole, toml::de::Error> = toml::from_str(text);
    let whole = whole.map_err(|error| {
        let before = error.span().map_or(0, |span| span.start);
        let before = text.get(..before).unwrap_or_default();
        McpConfigError::Syntax {
            line: before.matches('\n').count() + 1,
            reason: without_quotes(error.message()),
        }
    })?;
    Ok(whole.servers)
}

/// The parser quotes a text in a place where none may be: `invalid type: string "...", expected a sequence`.
fn without_quotes(message: &str) -> String {
    let quoted = message
        .split_once("string \"")
        .and_then(|(before, rest)| Some((before, rest.rsplit_once("\", expected")?.1)));
    match quoted {
        Some((before, after)) => format!("{before}a text, expected{after}"),
        None => message.to_owned(),
    }
}

/// What is wrong with a field of a server.
pub(super) struct Fault {
    field: String,
    problem: String,
    remedy: String,
}

impl Fault {
    pub(super) fn new(field: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    pub(super) fn missing(field: String, missing: Missing) -> Self {
        Self {
            field,
            problem: missing.problem,
            remedy: missing.remedy,
        }
    }
}

impl ServerTable {
    /// The server with all of its values.
    pub(super) fn ready(
        self,
        name: &ServerName,
        place: usize,
        variables: Variables<'_>,
    ) -> Result<McpServerConfig, McpConfigError> {
        self.checked(place, variables)
            .map_err(|fault| McpConfigError::Field {
                server: name.as_str().to_owned(),
                field: fault.field,
                problem: fault.problem,
                remedy: fault.remedy,
            })
    }

    fn checked(mut self, place: usize, variables: Variables<'_>) -> Result<McpServerConfig, Fault> {
        let (tools, trust_hints) = (self.tools.take(), self.trust_hints);
        let limits = std::mem::take(&mut self.limits);
        Ok(McpServerConfig {
            reach: self.reach(variables)?,
            place,
            tools,
            trust_hints,
            limits: limits.checked()?,
        })
    }

    /// How it is reached: as a program, or on the network.
    fn reach(self, variables: Variables<'_>) -> Result<ServerTransport, Fault> {
        match (self.command.is_some(), self.url.is_some()) {
            (true, false) => self.program(variables),
            (false, true) => self.address(variables),
            (true, true) => Err(Fault::new(
                "url",
                "there is a `command` too",
                "give one of the two",
            )),
            (false, false) => Err(Fault::new(
                "command",
                "it is missing",
                "give `command` for a program to start, or `url` for a server on the network",
            )),
        }
    }

    fn program(self, variables: Variables<'_>) -> Result<ServerTransport, Fault> {
        let network =
            given("headers", self.headers.is_some()).or(given("login", self.login.is_some()));
        if let Some(field) = network {
            return Err(Fault::new(
                field,
                "a program has none",
                "remove it, or give `url` instead of `command`",
            ));
        }
        let arguments = self.args.unwrap_or_default();
        Ok(ServerTransport::Process(ProcessServer {
            program: self.command.unwrap_or_default().into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: environment(self.env.unwrap_or_default(), variables)?,
            directory: self.directory,
        }))
    }

    fn address(self, variables: Variables<'_>) -> Result<ServerTransport, Fault> {
        let process = given("args", self.args.is_some())
            .or(given("env", self.env.is_some()))
            .or(given("directory", self.directory.is_some()));
        if let Some(field) = process {
            return Err(Fault::new(
                field,
                "a server on the network has none",
                "remove it, or give `command` instead of `url`",
            ));
        }
        let url = checked_url(self.url.unwrap_or_default())?;
        let headers = headers(self.headers.unwrap_or_default(), variables)?;
        if self.login.is_some() && headers.contains_key(AUTHORIZATION) {
            return Err(Fault::new(
                "login",
                "there is an `Authorization` in `headers` too",
                "give one of the two",
            ));
        }
        let login = self.login.unwrap_or_default().checked(variables)?;
        Ok(ServerTransport::Http(HttpServer {
            url,
            headers,
            login,
        }))
    }
}

fn given(field: &'static str, is_given: bool) -> Option<&'static str> {
    is_given.then_some(field)
}

fn environment(
    values: BTreeMap<String, Value>,
    variables: Variables<'_>,
) -> Result<ToolEnvironment, Fault> {
    let mut environment = ToolEnvironment::allowed();
    for (name, value) in values {
        let field = format!("env.{name}");
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(Fault::new(
                &field,
                "it is no name of a variable",
                "remove the `=`",
            ));
        }
        let value = value
            .resolve(variables)
            .map_err(|missing| Fault::missing(field, missing))?;
        environment = environment.with(name, value);
    }
    Ok(environment)
}

fn headers(values: BTreeMap<String, Value>, variables: Variables<'_>) -> Result<HeaderMap, Fault> {
    let mut headers = HeaderMap::new();
    for (name, value) in values {
        let field = format!("headers.{name}");
        let header: HeaderName = name.parse().map_err(|_invalid| {
            Fault::new(
                &field,
                "it is no name of a header",
                "remove what HTTP does not take in one",
            )
        })?;
        if RESERVED.contains(&header.as_str()) {
            return Err(Fault::new(
                &field,
                "the protocol sets it by itself",
                "remove it",
            ));
        }
        let value = value
            .resolve(variables)
            .map_err(|missing| Fault::missing(field.clone(), missing))?;
        let value = value.into_encoded_bytes();
        let mut value = HeaderValue::from_bytes(&value).map_err(|_invalid| {
            Fault::new(
                &field,
                "its value is none that HTTP takes",
                "remove line breaks from it",
            )
        })?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

pub(super) fn checked_url(text: String) -> Result<String, Fault> {
    let url = reqwest::Url::parse(&text)
        .map_err(|error| Fault::new("url", error.to_string(), "write it as `https://host/mcp`"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Fault::new(
            "url",
            "it is neither http nor https",
            "write it as `https://host/mcp`",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let remedy = "put them into `headers`, with `{ from = \"VARIABLE\" }`";
        return Err(Fault::new("url", "it holds credentials", remedy));
    }
    Ok(text)
}
