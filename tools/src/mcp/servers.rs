//! All servers of a configuration.

use std::fmt::{self, Debug};
use std::sync::Arc;

use futures_util::future::join_all;
use tokio::sync::watch;

use super::login::TokenMiddleware;
use super::name::ServerName;
use super::server::{Server, ServerEnvironment};
use super::servers_config::{McpFailure, McpServersConfig};
use super::tool::McpTool;
use crate::limit::CallLimits;
use crate::registry::{RegisterError, ToolRegistry};
use crate::tool::{Tool, ToolName};
use journal::tool::ContainmentReport;

/// Servers and their tools. Dropped, the processes that were started for them end; [`McpServers::close`] lets them
/// end by themselves and says what became of them.
pub struct McpServers {
    servers: Vec<Arc<Server>>,
    shared: Arc<ServerEnvironment>,
}

impl McpServers {
    /// The servers of a configuration. Nothing is started before it is needed.
    pub fn new(config: McpServersConfig) -> Self {
        let shared = Arc::new(ServerEnvironment {
            containment: config.containment,
            elicitor: config.elicitor,
            counter: config.counter,
            directory: config.directory,
            guide: config.guide,
            logins: config.logins,
            changes: watch::Sender::new(0),
        });
        let mut servers: Vec<_> = config.servers.servers.into_iter().collect();
        servers.sort_by_key(|(_name, server)| server.place);
        let servers = servers
            .into_iter()
            .map(|(name, server)| Server::new(name, server, Arc::clone(&shared)));
        Self {
            servers: servers.collect(),
            shared,
        }
    }

    /// Connects all that are not connected, at once, and reads the lists of their tools. Returns those that failed; the
    /// others can be used.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, those that were not connected yet are not, and their processes end.
    pub async fn connect(&self) -> Vec<McpFailure> {
        let all = self.servers.iter().map(async |server| {
            let connected = server.connection().await;
            connected.err().map(|error| McpFailure {
                server: server.name.clone(),
                error,
            })
        });
        join_all(all).await.into_iter().flatten().collect()
    }

    /// The tools of all servers that were ever connected, as they are now listed. A tool stays usable when its server
    /// dies: the next call starts it again.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for server in &self.servers {
            for listed in server.tools().listed.into_values() {
                tools.push(Arc::new(McpTool::new(Arc::clone(server), listed)));
            }
        }
        tools
    }

    /// What of the servers' tools is not there, a sentence each: tools that cannot be used, and lists that were not read
    /// to their end.
    pub fn notes(&self) -> Vec<String> {
        let servers = self.servers.iter();
        servers.flat_map(|server| server.tools().notes).collect()
    }

    /// Counts how often a list of tools has changed. A caller that sees it change puts the tools anew into the registry
    /// of the next turn.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// Puts the tools as they are now listed into a registry, in place of those of these servers that were there.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] where another tool has the name of one of them.
    pub fn put_into(&self, registry: &mut ToolRegistry) -> Result<(), RegisterError> {
        for server in &self.servers {
            let prefix = format!("{}__", server.name);
            let names: Vec<String> = registry
                .specs()
                .iter()
                .map(|spec| spec.name.as_str().to_owned())
                .filter(|name| name.starts_with(&prefix))
                .collect();
            for name in names {
                registry.remove(&name);
            }
        }
        self.tools()
            .into_iter()
            .try_for_each(|tool| registry.register(tool))
    }

    /// Sets the limits of the tools' calls as the configuration says, where they are not set.
    pub fn limit(&self, limits: &mut CallLimits) {
        for server in &self.servers {
            for listed in server.tools().listed.into_values() {
                let name: ToolName = listed.spec.name.clone();
                let limit = server.config.limits.call;
                limits.by_tool.entry(name).or_insert(limit);
            }
        }
    }

    /// Which server of the configuration a tool is of, by its name among all tools: the first one is 0.
    pub fn place_of(&self, tool: &str) -> Option<usize> {
        let (name, _tool) = tool.split_once("__")?;
        let mut servers = self.servers.iter();
        servers.position(|server| server.name.as_str() == name)
    }

    /// Forgets the login to a server, where there is one.
    ///
    /// # Errors
    ///
    /// Where what is kept of it cannot be removed.
    pub fn forget_login(&self, server: &ServerName) -> std::io::Result<()> {
        self.gate(server).map_or(Ok(()), TokenMiddleware::forget)
    }

    /// Whether there was a login to a server since these servers were made.
    pub fn has_logged_in(&self, server: &ServerName) -> bool {
        self.gate(server).is_some_and(|gate| gate.logins() > 0)
    }

    fn gate(&self, server: &ServerName) -> Option<&TokenMiddleware> {
        let mut servers = self.servers.iter();
        let server = servers.find(|it| it.name == *server)?;
        server.gate.as_ref()
    }

    /// Takes leave of all servers at once: those that are programs get the end of their input and a time to end by
    /// themselves, then they are ended. Returns what is known of the death of each. Calls fail from now on.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the processes end all the same when this value does.
    pub async fn close(&self) -> Vec<(ServerName, ContainmentReport)> {
        let all = self.servers.iter().map(async |server| {
            let end = server.close().await?;
            Some((server.name.clone(), end.report?))
        });
        join_all(all).await.into_iter().flatten().collect()
    }
}

impl Debug for McpServers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self
            .servers
            .iter()
            .map(|server| server.name.as_str())
            .collect();
        formatter
            .debug_struct("McpServers")
            .field("servers", &names)
            .finish_non_exhaustive()
    }
}
