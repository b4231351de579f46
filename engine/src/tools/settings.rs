//! What the agents of a run may use, and how.

use std::fmt::{self, Debug};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tools::{
    CallLimits, McpServers, PermissionPolicy, ToolCounter, ToolCounts, ToolRegistry, Workspace,
};

use super::access::ToolAccess;
use super::elicitor::RunElicitor;
use super::permissions::{PermissionsError, ToolPermissions};

/// How long a call may take to end once it was told to: longer than the containment's grace and its verification.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// What the agents of a run may use, and how.
#[derive(Clone)]
pub struct AgentTools {
    /// The tools that there are, but for `launch_agent`, which the run adds.
    pub registry: ToolRegistry,
    /// The folder that they work in.
    pub workspace: Workspace,
    /// Which types of agents are offered which of them.
    pub access: ToolAccess,
    /// Which calls are allowed, denied, or asked about.
    pub policy: PermissionPolicy,
    /// How long calls may take, without the time in which a person is asked.
    pub limits: CallLimits,
    /// How many calls of an agent run at once.
    pub at_once: NonZeroUsize,
    /// After so many rounds of tools in one answer an agent is told to answer.
    pub rounds: u32,
    /// How deep agents may launch agents; 0 for not at all.
    pub launch_depth: u32,
    /// How long a call may take to end once it was told to.
    pub stop_within: Duration,
    /// Counts interrupted calls and late results.
    pub counter: Arc<dyn ToolCounter>,
    /// Servers whose tools are offered as they are listed at the time, beside those of the registry.
    pub servers: Option<Arc<McpServers>>,
    /// Asks people on behalf of tools that want to know something while they run, if there are such tools.
    pub elicitor: Option<RunElicitor>,
}

impl AgentTools {
    /// These tools in this folder, with these permissions, for agents that are usually offered this.
    ///
    /// # Errors
    ///
    /// [`PermissionsError`] if the permissions cannot be used.
    pub fn new(
        registry: ToolRegistry,
        workspace: Workspace,
        permissions: &ToolPermissions,
        usual: ToolAccess,
    ) -> Result<Self, PermissionsError> {
        permissions.check(&usual)?;
        Ok(Self {
            registry,
            workspace,
            access: usual.with(permissions.agents.clone()),
            policy: PermissionPolicy::new(&permissions.policy())?,
            limits: permissions.limits(),
            at_once: permissions.at_once,
            rounds: permissions.rounds,
            launch_depth: permissions.launch_depth,
            stop_within: STOP_WITHIN,
            counter: Arc::new(ToolCounts::new()),
            servers: None,
            elicitor: None,
        })
    }
}

impl Debug for AgentTools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AgentTools")
            .field("registry", &self.registry)
            .field("workspace", &self.workspace)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}
