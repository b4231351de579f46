//! What servers are run with, and what is said of those that fail.

use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::sync::Arc;

use super::config::McpConfig;
use super::elicitation::Elicitor;
use super::error::McpError;
use super::login::LoginGuide;
use super::name::ServerName;
use crate::containment::Containment;
use crate::counts::{ToolCounter, ToolCounts};
use crate::permission::NoApprover;

/// What servers are run with.
#[derive(Clone)]
pub struct McpServersConfig {
    /// Which there are.
    pub servers: McpConfig,
    /// Contains the processes of those that are programs. Its bound of kept output is that of a result too.
    pub containment: Containment,
    /// The folder that programs start in, where their own configuration names none.
    pub directory: PathBuf,
    /// Asks a person what a server wants to know.
    pub elicitor: Arc<dyn Elicitor>,
    /// Counts results that came too late.
    pub counter: Arc<dyn ToolCounter>,
    /// Shows a person the page of a login that a server wants.
    pub guide: Arc<dyn LoginGuide>,
    /// The folder that keeps what logins gave, for this user's eyes alone; `None` keeps it as long as the servers.
    pub logins: Option<PathBuf>,
}

impl McpServersConfig {
    /// These servers, in this folder. No person is asked what they want to know or shown where to log in, and
    /// the counts go nowhere.
    pub fn new(servers: McpConfig, directory: impl Into<PathBuf>) -> Self {
        Self {
            servers,
            containment: Containment::default(),
            directory: directory.into(),
            elicitor: Arc::new(NoApprover),
            counter: Arc::new(ToolCounts::new()),
            guide: Arc::new(NoApprover),
            logins: None,
        }
    }
}

impl Debug for McpServersConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("McpServersConfig")
            .field("servers", &self.servers)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// A server that could not be connected.
#[derive(Debug)]
pub struct McpFailure {
    /// Which.
    pub server: ServerName,
    /// Why.
    pub error: McpError,
}
