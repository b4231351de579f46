//! The configuration as it is written, before any of its values is looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::{HttpServer, McpConfig, McpServerConfig, ProcessServer, ServerTransport};
use crate::containment::ToolEnvironment;
use crate::mcp::error::McpConfigError;
use crate::mcp::limits::McpLimits;
use crate::mcp::login::LoginTerms;
use crate::mcp::name::ServerName;
use crate::mcp::value::{Value, Variables};

/// The headers that the protocol itself sets.
const RESERVED: [&str; 4] = [
    "accept",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// What is wrong with a field of a server, and what to do about it.
struct Fault {
    field: String,
    problem: String,
}

fn fault(field: impl Into<String>, problem: impl Into<String>) -> Fault {
    Fault {
        field: field.into(),
        problem: problem.into(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    #[serde(default)]
    servers: BTreeMap<ServerName, Spanned<ServerTable>>,
}

/// The table of one server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerTable {
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
    limits: McpLimits,
}

/// The table `login` of a server.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Login {
    /// There is one alone, so that it need not be named.
    grant: Option<IgnoredAny>,
    client_id: Option<String>,
    client_secret: Option<Value>,
    client_metadata: Option<String>,
    scopes: Vec<String>,
    port: Option<u16>,
    private_network: bool,
}

/// Reads the text, and looks up what it takes from variables.
pub(super) fn read(text: &str, variables: Variables<'_>) -> Result<McpConfig, McpConfigError> {
    let read = toml::Deserializer::parse(text).map_err(|error| syntax(text, "", &error));
    let whole: Whole = serde_path_to_error::deserialize(read?).map_err(|error| {
        // The places of the tables have names of their own in the path.
        let path = error.path().iter().map(ToString::to_string);
        let path: Vec<String> = path.filter(|name| !name.starts_with('$')).collect();
        syntax(text, &format!(": {}", path.join(".")), error.inner())
    })?;
    let servers = whole.servers.into_iter().map(|(name, server)| {
        // Where its table begins: the order of the text is that of the servers.
        let place = server.span().start;
        match server.into_inner().ready(place, variables) {
            Ok(config) => Ok((name, config)),
            Err(Fault { field, problem }) => Err(McpConfigError::Unusable {
                place: format!("servers.{name}.{field}"),
                problem,
            }),
        }
    });
    Ok(McpConfig {
        servers: servers.collect::<Result<_, _>>()?,
    })
}

/// What the parser says. What it quotes of the text is left out: it may be a secret.
fn syntax(text: &str, field: &str, error: &toml::de::Error) -> McpConfigError {
    let before = error.span().map_or(0, |span| span.start);
    let before = text.get(..before).unwrap_or_default();
    let said = error.message();
    // `invalid type: string "...", expected a sequence`
    let quoted = said
        .split_once("string \"")
        .and_then(|(before, rest)| Some((before, rest.rsplit_once("\", expected")?.1)));
    McpConfigError::Unusable {
        place: format!("line {}{field}", before.matches('\n').count() + 1),
        problem: match quoted {
            Some((before, after)) => format!("{before}a text, expected{after}"),
            None => said.to_owned(),
        },
    }
}

impl ServerTable {
    /// The server with all of its values.
    fn ready(self, place: usize, variables: Variables<'_>) -> Result<McpServerConfig, Fault> {
        let limits = self.limits.clone();
        if limits.message < 1024 {
            let problem = "less than 1024 bytes hold no message; raise it";
            return Err(fault("limits.message_bytes", problem));
        }
        if limits.quiet > limits.cancel {
            let problem = "it is longer than `limits.cancel`, so no call could ever count as stopped; lower it, or raise `limits.cancel`";
            return Err(fault("limits.quiet", problem));
        }
        Ok(McpServerConfig {
            place,
            tools: self.tools.clone(),
            trust_hints: self.trust_hints,
            limits,
            reach: self.reach(variables)?,
        })
    }

    /// How it is reached: as a program, or on the network.
    fn reach(self, variables: Variables<'_>) -> Result<ServerTransport, Fault> {
        let of_programs = [
            ("args", self.args.is_some()),
            ("env", self.env.is_some()),
            ("directory", self.directory.is_some()),
        ];
        let of_addresses = [
            ("headers", self.headers.is_some()),
            ("login", self.login.is_some()),
        ];
        let given = |fields: &[(&'static str, bool)], problem| {
            let field = fields.iter().find(|(_field, is_given)| *is_given);
            field.map_or(Ok(()), |(field, _given)| Err(fault(*field, problem)))
        };
        match (self.command, self.url) {
            (Some(program), None) => {
                given(
                    &of_addresses,
                    "a program has none; remove it, or give `url` instead of `command`",
                )?;
                Ok(ServerTransport::Process(ProcessServer {
                    program: program.into(),
                    arguments: self.args.into_iter().flatten().map(Into::into).collect(),
                    environment: environment(self.env.unwrap_or_default(), variables)?,
                    directory: self.directory,
                }))
            }
            (None, Some(url)) => {
                given(
                    &of_programs,
                    "a server on the network has none; remove it, or give `command` instead of `url`",
                )?;
                let headers = headers(self.headers.unwrap_or_default(), variables)?;
                if self.login.is_some() && headers.contains_key(AUTHORIZATION) {
                    let problem =
                        "there is an `Authorization` in `headers` too; give one of the two";
                    return Err(fault("login", problem));
                }
                Ok(ServerTransport::Http(HttpServer {
                    url: checked_url(url)?,
                    headers,
                    login: self.login.unwrap_or_default().checked(variables)?,
                }))
            }
            (Some(_program), Some(_url)) => Err(fault(
                "url",
                "there is a `command` too; give one of the two",
            )),
            (None, None) => Err(fault(
                "command",
                "it is missing; give `command` for a program to start, or `url` for a server on the network",
            )),
        }
    }
}

impl Login {
    /// The terms with all of their values.
    fn checked(self, variables: Variables<'_>) -> Result<LoginTerms, Fault> {
        if self.grant.is_some() {
            let problem = "only a person can log in; for a client with a secret of its own, remove `login` and give \
                 its token: `headers = { Authorization = { from = \"VARIABLE\", prefix = \"Bearer \" } }`";
            return Err(fault("login.grant", problem));
        }
        if self.client_id.is_none() && self.client_secret.is_some() {
            let problem = "it is missing; give the id of the client that the secret belongs to";
            return Err(fault("login.client_id", problem));
        }
        let secret = |value: Value| {
            let secret = value.resolve(variables)?.into_string();
            secret.map_err(|_bytes| "it is no text in UTF-8; give it as a text".to_owned())
        };
        let secret = self.client_secret.map(secret).transpose();
        let client_secret = secret.map_err(|problem| fault("login.client_secret", problem))?;
        // The address of a document that describes a client is its id, and so has to be one that others can read.
        let is_document = |text: &String| {
            let url = reqwest::Url::parse(text);
            url.is_ok_and(|url| url.scheme() == "https" && url.path() != "/")
        };
        if !self.client_metadata.as_ref().is_none_or(is_document) {
            let problem = "it is no document that is reached by https; write it as `https://host/client.json`";
            return Err(fault("login.client_metadata", problem));
        }
        Ok(LoginTerms {
            client_id: self.client_id,
            client_secret,
            client_metadata: self.client_metadata,
            scopes: self.scopes,
            port: self.port,
            private_network: self.private_network,
        })
    }
}

fn environment(
    values: BTreeMap<String, Value>,
    variables: Variables<'_>,
) -> Result<ToolEnvironment, Fault> {
    let mut environment = ToolEnvironment::allowed();
    for (name, value) in values {
        let field = format!("env.{name}");
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(fault(field, "it is no name of a variable; remove the `=`"));
        }
        let value = value.resolve(variables);
        environment = environment.with(name, value.map_err(|problem| fault(field, problem))?);
    }
    Ok(environment)
}

fn headers(values: BTreeMap<String, Value>, variables: Variables<'_>) -> Result<HeaderMap, Fault> {
    let read = |(name, value): (String, Value)| {
        let header: HeaderName = name.parse().map_err(|_invalid| {
            "it is no name of a header; remove what HTTP does not take in one".to_owned()
        })?;
        if RESERVED.contains(&header.as_str()) {
            return Err("the protocol sets it by itself; remove it".to_owned());
        }
        let value = value.resolve(variables)?.into_encoded_bytes();
        let mut value = HeaderValue::from_bytes(&value).map_err(|_invalid| {
            "its value is none that HTTP takes; remove line breaks from it".to_owned()
        })?;
        value.set_sensitive(true);
        Ok((header, value))
    };
    let headers = values.into_iter().map(|(name, value)| {
        let field = format!("headers.{name}");
        read((name, value)).map_err(|problem| fault(field, problem))
    });
    headers.collect()
}

fn checked_url(text: String) -> Result<String, Fault> {
    let url = reqwest::Url::parse(&text);
    let url =
        url.map_err(|error| fault("url", format!("{error}; write it as `https://host/mcp`")))?;
    if !matches!(url.scheme(), "http" | "https") {
        let problem = "it is neither http nor https; write it as `https://host/mcp`";
        return Err(fault("url", problem));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let problem =
            "it holds credentials; put them into `headers`, with `{ from = \"VARIABLE\" }`";
        return Err(fault("url", problem));
    }
    Ok(text)
}
