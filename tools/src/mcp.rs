//! Servers of the Model Context Protocol, and their tools as [`Tool`](crate::Tool)s.
//!
//! `config` reads which servers there are, `server` keeps each of them connected, `connection` is one life of a server,
//! `tool` is one of its tools, `cancel` tells a server to stop a call and finds out whether it did. `watched` sits
//! between the protocol library and the wire: it sees what comes of a call that no one waits for any more.
//!
//! What a server says of itself and of its tools is unverified.

mod book;
mod call;
mod cancel;
mod client;
mod config;
mod connection;
mod content;
mod defaults;
mod elicitation;
mod error;
mod form;
mod limits;
mod listening;
mod login;
mod name;
mod offer;
mod process;
mod reply;
mod resources;
mod server;
mod servers;
mod tool;
mod transport;
mod value;
mod watched;

pub use config::{HttpServer, McpConfig, McpServerConfig, ProcessServer, ServerTransport};
pub use elicitation::{ElicitationAnswer, ElicitationForm, ElicitationRequest, Elicitor};
pub use error::{McpConfigError, McpError};
pub use form::{FieldChoice, FieldKind, FormField};
pub use limits::McpLimits;
pub use login::{LoginGrant, LoginGuide, LoginPage, LoginTerms};
pub use name::{ServerName, ServerNameError};
pub use servers::{McpFailure, McpServers, McpServersConfig};
