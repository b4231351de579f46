//! The configuration as it is written, before any of its values is looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::SignedDuration;
use serde::Deserialize;

use super::login::Login;
use super::{HttpServer, McpServerConfig, ProcessServer, Reach};
use crate::containment::ToolEnvironment;
use crate::mcp::error::McpConfigError;
use crate::mcp::limits::McpLimits;
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
    servers: BTreeMap<ServerName, Server>,
}

/// The table of one server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Server {
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

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Limits {
    start: Option<String>,
    list: Option<String>,
    call: Option<String>,
    cancel: Option<String>,
    quiet: Option<String>,
    close: Option<String>,
    message_bytes: Option<usize>,
    restarts: Option<usize>,
}

/// Reads the text. What the parser quotes of it is left out: it may be a secret.
pub(super) fn read(text: &str) -> Result<BTreeMap<ServerName, Server>, McpConfigError> {
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

/// The parser quotes a text that stands where none may: `invalid type: string "...", expected a sequence`.
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

impl Server {
    /// The server with all of its values.
    pub(super) fn ready(
        self,
        name: &ServerName,
        variables: Variables<'_>,
    ) -> Result<McpServerConfig, McpConfigError> {
        self.checked(variables)
            .map_err(|fault| McpConfigError::Field {
                server: name.as_str().to_owned(),
                field: fault.field,
                problem: fault.problem,
                remedy: fault.remedy,
            })
    }

    fn checked(self, variables: Variables<'_>) -> Result<McpServerConfig, Fault> {
        let given = |field: &'static str, is_given: bool| is_given.then_some(field);
        let reach = match (self.command, self.url) {
            (Some(program), None) => {
                let network = given("headers", self.headers.is_some())
                    .or(given("login", self.login.is_some()));
                if let Some(field) = network {
                    return Err(Fault::new(
                        field,
                        "a program has none",
                        "remove it, or give `url` instead of `command`",
                    ));
                }
                Reach::Process(ProcessServer {
                    program: program.into(),
                    arguments: self
                        .args
                        .unwrap_or_default()
                        .into_iter()
                        .map(Into::into)
                        .collect(),
                    environment: environment(self.env.unwrap_or_default(), variables)?,
                    directory: self.directory,
                })
            }
            (None, Some(url)) => {
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
                let headers = headers(self.headers.unwrap_or_default(), variables)?;
                if self.login.is_some() && headers.contains_key(AUTHORIZATION) {
                    return Err(Fault::new(
                        "login",
                        "there is an `Authorization` in `headers` too",
                        "give one of the two",
                    ));
                }
                Reach::Http(HttpServer {
                    url: checked_url(url)?,
                    headers,
                    login: self.login.unwrap_or_default().checked(variables)?,
                })
            }
            (Some(_), Some(_)) => {
                return Err(Fault::new(
                    "url",
                    "there is a `command` too",
                    "give one of the two",
                ));
            }
            (None, None) => {
                return Err(Fault::new(
                    "command",
                    "it is missing",
                    "give `command` for a program to start, or `url` for a server on the network",
                ));
            }
        };
        Ok(McpServerConfig {
            reach,
            tools: self.tools,
            trust_hints: self.trust_hints,
            limits: self.limits.checked()?,
        })
    }
}

impl Limits {
    fn checked(self) -> Result<McpLimits, Fault> {
        let usual = McpLimits::default();
        let limits = McpLimits {
            start: duration("limits.start", self.start, usual.start)?,
            list: duration("limits.list", self.list, usual.list)?,
            call: match self.call.as_deref() {
                Some("none") => None,
                Some(text) => Some(parsed("limits.call", text)?),
                None => usual.call,
            },
            cancel: duration("limits.cancel", self.cancel, usual.cancel)?,
            quiet: duration("limits.quiet", self.quiet, usual.quiet)?,
            close: duration("limits.close", self.close, usual.close)?,
            message: self.message_bytes.unwrap_or(usual.message),
            restarts: self.restarts.unwrap_or(usual.restarts),
        };
        if limits.message < 1024 {
            return Err(Fault::new(
                "limits.message_bytes",
                "less than 1024 bytes hold no message",
                "raise it",
            ));
        }
        if limits.quiet > limits.cancel {
            let problem =
                "it is longer than `limits.cancel`, so no call could ever count as stopped";
            return Err(Fault::new(
                "limits.quiet",
                problem,
                "lower it, or raise `limits.cancel`",
            ));
        }
        Ok(limits)
    }
}

fn duration(field: &str, text: Option<String>, usual: Duration) -> Result<Duration, Fault> {
    text.map_or(Ok(usual), |text| parsed(field, &text))
}

fn parsed(field: &str, text: &str) -> Result<Duration, Fault> {
    let span: Option<SignedDuration> = text.parse().ok();
    span.filter(|span| span.is_positive())
        .and_then(|span| Duration::try_from(span).ok())
        .ok_or_else(|| {
            Fault::new(
                field,
                format!("`{text}` is no length of time"),
                "write it as `30s`, `250ms` or `10m`",
            )
        })
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
