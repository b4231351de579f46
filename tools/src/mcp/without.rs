//! What stands for the servers in a build without the protocol: no configuration is ever read, so there are none.

use std::io;
use std::sync::Arc;

use journal::tool::ContainmentReport;
use tokio::sync::watch;

use super::name::ServerName;
use super::servers_config::{McpFailure, McpServersConfig};
use crate::limit::CallLimits;
use crate::registry::{RegisterError, ToolRegistry};
use crate::tool::Tool;

/// Servers and their tools. This build has none: the feature `mcp` brings them.
#[derive(Debug)]
pub struct McpServers(watch::Sender<u64>);

impl McpServers {
    /// No servers.
    pub fn new(_config: McpServersConfig) -> Self {
        Self(watch::Sender::new(0))
    }

    /// Connects none.
    ///
    /// # Cancel safety
    ///
    /// Safe: it does nothing.
    pub async fn connect(&self) -> Vec<McpFailure> {
        Vec::new()
    }

    /// No tools.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// Nothing is left out.
    pub fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Never changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }

    /// Puts nothing into a registry.
    ///
    /// # Errors
    ///
    /// None.
    pub fn put_into(&self, _registry: &mut ToolRegistry) -> Result<(), RegisterError> {
        Ok(())
    }

    /// Sets no limits.
    pub fn limit(&self, _limits: &mut CallLimits) {}

    /// No tool is of a server.
    pub fn place_of(&self, _tool: &str) -> Option<usize> {
        None
    }

    /// Forgets nothing.
    ///
    /// # Errors
    ///
    /// None.
    pub fn forget_login(&self, _server: &ServerName) -> io::Result<()> {
        Ok(())
    }

    /// There was no login.
    pub fn has_logged_in(&self, _server: &ServerName) -> bool {
        false
    }

    /// Takes leave of none.
    ///
    /// # Cancel safety
    ///
    /// Safe: it does nothing.
    pub async fn close(&self) -> Vec<(ServerName, ContainmentReport)> {
        Vec::new()
    }
}
