//! The tools of a run's agents: what the command line orders, made ready, opened for the run, and closed after it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agents::run::ToolOrder;
use agents::usual_access;
use engine::run::{RunEvent, RunObserver, RunOccurrence};
use engine::tools::{AgentTools, RunElicitor, ToolPermissions};
use tools::{
    CallEnd, Containment, McpConfig, McpConfigError, McpServers, McpServersConfig, ProgramConfig,
    ToolCounter, ToolCounts, ToolRegistry, Workspace, built_in_tools,
};

use crate::arguments::ToolArguments;
use crate::exit::{Exit, Failure, causes};
use crate::logins;

/// What the command line orders; `None` if agents get no tools.
///
/// # Errors
///
/// [`Exit::NotFound`] if a file or the folder does not exist, [`Exit::Usage`] if a file has invalid contents.
pub(crate) fn order(arguments: &ToolArguments) -> Result<Option<ToolOrder>, Failure> {
    let Some(folder) = &arguments.tools else {
        return Ok(None);
    };
    let permissions = match &arguments.permissions {
        Some(file) => read_permissions(file)?,
        None => ToolPermissions::default(),
    };
    let order = ToolOrder {
        folder: absolute(folder),
        permissions,
        mcp: arguments.mcp.as_deref().map(absolute),
    };
    Ok(Some(order))
}

/// The path in a form that another process, which may be resumed in another folder, finds too.
fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_no_place| path.to_owned());
    path.to_string_lossy().into_owned()
}

fn read_permissions(file: &Path) -> Result<ToolPermissions, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        let text = format!("cannot read the permissions {}: {error}", file.display());
        Failure::new(Exit::NotFound, text)
    })?;
    ToolPermissions::from_toml(&text, &usual_access()).map_err(|error| {
        let text = format!("{} says no permissions:\n{error}", file.display());
        Failure::new(Exit::Usage, text).hint("docs/tools.md says what such a file may say")
    })
}

/// Tools that were checked. Nothing was started.
pub(crate) struct PreparedTools {
    tools: AgentTools,
    servers: Option<(McpConfig, PathBuf)>,
    folder: PathBuf,
}

impl PreparedTools {
    /// Checks what an order says.
    ///
    /// # Errors
    ///
    /// If the folder cannot be opened, or what it orders cannot be used.
    pub(crate) fn of(order: &ToolOrder) -> Result<Self, Failure> {
        let workspace = Workspace::open(&order.folder).map_err(|error| {
            let text = format!("the folder {} cannot be worked in: {error}", order.folder);
            Failure::new(Exit::NotFound.unless_lacking(&error), text)
                .hint("name a folder that is there: --tools DIR")
        })?;
        let folder = workspace.root().to_owned();
        let servers = match &order.mcp {
            Some(file) => Some((read_servers(Path::new(file))?, PathBuf::from(file))),
            None => None,
        };
        let mut registry = ToolRegistry::new();
        for tool in built_in_tools(&ProgramConfig::default()) {
            registry
                .register(tool)
                .map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
        }
        let tools = AgentTools::new(registry, workspace, &order.permissions, usual_access())
            .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        Ok(Self {
            tools,
            servers,
            folder,
        })
    }

    /// Counts there what happens to them.
    pub(crate) fn count_with(&mut self, counts: &Arc<ToolCounts>) {
        self.tools.counter = Arc::clone(counts) as Arc<dyn ToolCounter>;
    }

    /// Keeps what tools change in a folder, so that they can take it back in a later process too.
    pub(crate) fn with_edits_in(mut self, folder: Option<PathBuf>) -> Self {
        if let Some(folder) = folder {
            self.tools.workspace = self.tools.workspace.with_edits_kept_in(folder);
        }
        self
    }

    /// Connects the available servers. `note` gets what does not work: the run continues without it.
    ///
    /// # Errors
    ///
    /// If two tools have one name.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the servers that were started end.
    pub(crate) async fn open(self, note: impl Fn(String)) -> Result<OpenedTools, Failure> {
        let Self {
            mut tools,
            servers,
            folder,
        } = self;
        let Some((config, file)) = servers else {
            note_beyond_paths(&tools, &tools.registry, note);
            return Ok(OpenedTools {
                tools,
                servers: None,
            });
        };
        let elicitor = RunElicitor::new();
        let servers = McpServersConfig {
            containment: Containment::default(),
            elicitor: elicitor.port(),
            counter: Arc::clone(&tools.counter),
            logins: logins::folder(),
            ..McpServersConfig::new(config, folder)
        };
        let servers = connected(servers, &file, &note).await;
        // Conflicts of their names are reported before the run begins; what is offered is looked up each time.
        let mut all = tools.registry.clone();
        servers
            .put_into(&mut all)
            .map_err(|error| Failure::new(Exit::Usage, causes(&error)))?;
        note_beyond_paths(&tools, &all, note);
        tools.servers = Some(Arc::clone(&servers));
        tools.elicitor = Some(elicitor);
        Ok(OpenedTools {
            tools,
            servers: Some(servers),
        })
    }
}

/// Reports which tools the rules about paths do not reach, if there are such rules.
fn note_beyond_paths(tools: &AgentTools, all: &ToolRegistry, note: impl Fn(String)) {
    let beyond = tools.policy.beyond_paths(all);
    if !beyond.is_empty() {
        note(beyond_paths(&beyond));
    }
}

/// The message about tools that the rules about paths do not reach.
pub(crate) fn beyond_paths(tools: &[&str]) -> String {
    let mut names: Vec<String> = tools
        .iter()
        .map(|tool| match tool.split_once("__") {
            Some((server, _tool)) => format!("{server}__*"),
            None => (*tool).to_owned(),
        })
        .collect();
    names.dedup();
    format!(
        "note: the [[paths]] rules do not hold for {}: these tools can open any file that you can. Deny them in \
         [[rules]] where that is too much",
        names.join(", ")
    )
}

/// Reads the file that names servers.
///
/// # Errors
///
/// [`Exit::Usage`] if it cannot be used.
pub(crate) fn read_servers(file: &Path) -> Result<McpConfig, Failure> {
    McpConfig::read(file).map_err(|error| {
        if matches!(error, McpConfigError::Without) {
            return Failure::built_without("MCP");
        }
        let exit = if file.exists() {
            Exit::Usage
        } else {
            Exit::NotFound
        };
        Failure::new(exit.unless_lacking(&error), causes(&error))
    })
}

/// Tools that a run can use.
pub(crate) struct OpenedTools {
    tools: AgentTools,
    servers: Option<Arc<McpServers>>,
}

impl OpenedTools {
    /// What its agents may use.
    pub(crate) fn agents(&self) -> AgentTools {
        self.tools.clone()
    }

    /// Closes the servers. `note` gets a message if something of one may still run.
    ///
    /// # Cancel safety
    ///
    /// Dropped, their processes end all the same.
    pub(crate) async fn close(self, note: impl Fn(String)) {
        let Some(servers) = self.servers else {
            return;
        };
        left(&servers, note).await;
    }
}

/// Connects the servers of a file. `note` gets what does not work: the others can be used.
///
/// # Cancel safety
///
/// Dropped, the servers that were started end.
pub(crate) async fn connected(
    config: McpServersConfig,
    file: &Path,
    note: &impl Fn(String),
) -> Arc<McpServers> {
    let servers = McpServers::new(config);
    for failure in servers.connect().await {
        note(format!(
            "note: the tools of {} are not there: {}",
            failure.server,
            logins::why(&failure.error, file)
        ));
    }
    for missing in servers.notes() {
        note(format!("note: {missing}"));
    }
    Arc::new(servers)
}

/// Closes servers. `note` gets a message if something of one may still run.
///
/// # Cancel safety
///
/// Dropped, their processes end all the same.
pub(crate) async fn left(servers: &McpServers, note: impl Fn(String)) {
    for (server, report) in servers.close().await {
        if !report.verified {
            note(format!(
                "note: something of the server {server} may still run"
            ));
        }
    }
}

/// Whether a person must see the line of an ended call at once: whether an interrupt has affected it.
pub(crate) fn is_interrupted(end: &CallEnd) -> bool {
    end.interrupt().is_some()
}

/// Remembers whether an interrupt has affected a tool call.
#[derive(Debug, Default)]
pub(crate) struct InterruptedTools(AtomicBool);

impl InterruptedTools {
    /// Whether one has.
    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl RunObserver for InterruptedTools {
    fn observe(&self, occurrence: &RunOccurrence) {
        if let RunEvent::ToolEnded { message, .. } = &occurrence.event
            && is_interrupted(&message.end)
            && !occurrence.replayed
        {
            self.0.store(true, Ordering::Release);
        }
    }
}
