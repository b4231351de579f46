//! Servers of the Model Context Protocol, and their tools as [`Tool`](crate::Tool)s.
//!
//! `config` reads which servers there are, `server` keeps each of them connected, `connection` is one life of a server,
//! `tool` is one of its tools, `cancel` tells a server to stop a call and finds out whether it did. `watched` sits
//! between the protocol library and the wire: it sees what comes of a call that no one waits for any more.
//!
//! What a server says of itself and of its tools is unverified.

#[cfg(feature = "mcp")]
mod book;
#[cfg(feature = "mcp")]
mod call;
#[cfg(feature = "mcp")]
mod cancel;
#[cfg(feature = "mcp")]
mod client;
mod config;
#[cfg(feature = "mcp")]
mod connection;
#[cfg(feature = "mcp")]
mod content;
#[cfg(feature = "mcp")]
mod defaults;
mod elicitation;
mod error;
mod form;
mod limits;
#[cfg(feature = "mcp")]
mod listening;
mod login;
mod name;
#[cfg(feature = "mcp")]
mod offer;
#[cfg(feature = "mcp")]
mod process;
#[cfg(feature = "mcp")]
mod reply;
#[cfg(feature = "mcp")]
mod resources;
#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod servers;
mod servers_config;
#[cfg(feature = "mcp")]
mod tool;
#[cfg(feature = "mcp")]
mod transport;
mod value;
#[cfg(feature = "mcp")]
mod watched;
#[cfg(not(feature = "mcp"))]
mod without;

pub use config::{HttpServer, McpConfig, McpServerConfig, ProcessServer, ServerTransport};
pub use elicitation::{ElicitationAnswer, ElicitationForm, ElicitationRequest, Elicitor};
pub use error::{McpConfigError, McpError};
pub use form::{FieldChoice, FieldKind, FormField};
pub use limits::McpLimits;
pub use login::{LoginGuide, LoginPage, LoginTerms};
pub use name::{ServerName, ServerNameError};
#[cfg(feature = "mcp")]
pub use servers::McpServers;
pub use servers_config::{McpFailure, McpServersConfig};
#[cfg(not(feature = "mcp"))]
pub use without::McpServers;
