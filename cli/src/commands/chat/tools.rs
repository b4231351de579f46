//! The tools of a conversation: what there is, what is allowed, and who is asked.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use engine::ExecutorTools;
use interrupt_router::StopScope;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tools::{
    Approver, ExecutorConfig, InterruptController, McpServers, McpServersConfig, NoApprover,
    Permission, PermissionAnswer, PermissionPolicy, PermissionRequest, PolicyConfig, ProgramConfig,
    RuleConfig, ToolRegistry, Workspace, built_in_tools,
};

use crate::arguments::ChatArguments;
use crate::exit::{Exit, Failure};
use crate::logins;
use crate::tooling::{beyond_paths, connected, left, read_servers};

/// The tools that only read.
const READING: &str = "read_file|list_files|search_files";

/// A question to the person at the terminal.
pub(super) struct PermissionQuestion {
    /// The exact call.
    pub(super) request: PermissionRequest,
    answer: oneshot::Sender<PermissionAnswer>,
}

/// The tool controls of a conversation on a terminal.
pub(super) struct ToolControls {
    /// The questions to the person.
    pub(super) questions: mpsc::UnboundedReceiver<PermissionQuestion>,
    /// What stops the calls, if there are tools.
    pub(super) controller: Option<InterruptController>,
}

impl PermissionQuestion {
    /// Whether an interrupt came before the answer, which then has no effect.
    pub(super) fn is_void(&self) -> bool {
        self.answer.is_closed()
    }

    /// Allows exactly what was shown, once.
    pub(super) fn allow(self) {
        let digest = self.request.digest;
        let words = None;
        self.say(PermissionAnswer::Approve { digest, words });
    }

    /// Allows it with other arguments, which are checked as the model's are.
    pub(super) fn edit(self, arguments: Value) {
        let words = None;
        self.say(PermissionAnswer::Edit { arguments, words });
    }

    /// Refuses it.
    pub(super) fn deny(self, reason: &str) {
        let reason = if reason.is_empty() {
            "the person said no".to_owned()
        } else {
            format!("the person said no: {reason}")
        };
        self.say(PermissionAnswer::Deny { reason });
    }

    fn say(self, answer: PermissionAnswer) {
        // After an interrupt the answer has no effect.
        let _void = self.answer.send(answer);
    }
}

/// Asks the person at the terminal.
struct TerminalApprover(mpsc::UnboundedSender<PermissionQuestion>);

#[async_trait]
impl Approver for TerminalApprover {
    async fn ask(&self, request: PermissionRequest, _scope: &StopScope) -> PermissionAnswer {
        let gone = || PermissionAnswer::Deny {
            reason: "no one answered".to_owned(),
        };
        let (answer, answered) = oneshot::channel();
        if self.0.send(PermissionQuestion { request, answer }).is_err() {
            return gone();
        }
        answered.await.unwrap_or_else(|_closed| gone())
    }
}

/// The tools of a conversation.
#[derive(Default)]
pub(super) struct ChatTools {
    /// The tools, if there are any.
    pub(super) executor: Option<ExecutorTools>,
    servers: Option<Arc<McpServers>>,
}

impl ChatTools {
    /// Closes the connections to the servers.
    ///
    /// # Cancel safety
    ///
    /// If dropped, their processes end all the same.
    pub(super) async fn close(&self) {
        if let Some(servers) = &self.servers {
            left(servers, |note| eprintln!("{note}")).await;
        }
    }
}

/// The tools that the command line asks for, and the questions about them if there is a terminal.
///
/// # Errors
///
/// If the folder cannot be opened, the permissions or the servers cannot be read, or two tools have one name.
///
/// # Cancel safety
///
/// If dropped, the servers that were started end.
pub(super) async fn open(
    arguments: &ChatArguments,
    on_terminal: bool,
) -> Result<(ChatTools, mpsc::UnboundedReceiver<PermissionQuestion>), Failure> {
    let (ask, questions) = mpsc::unbounded_channel();
    let Some(folder) = &arguments.tools else {
        return Ok((ChatTools::default(), questions));
    };
    let workspace = Workspace::open(folder).map_err(|error| {
        let text = format!(
            "--tools: cannot open the folder {}: {error}",
            folder.display()
        );
        Failure::new(Exit::NotFound, text).hint("name a folder that exists, such as --tools .")
    })?;
    let policy = policy(arguments)?;
    let mut registry = ToolRegistry::new();
    for tool in built_in_tools(&ProgramConfig::default()) {
        registry
            .register(tool)
            .map_err(|error| Failure::new(Exit::Failure, crate::causes(&error)))?;
    }
    let mut all = registry.clone();
    let servers = match &arguments.mcp {
        Some(file) => Some(connect(file, &workspace, &mut all).await?),
        None => None,
    };
    let beyond = policy.beyond_paths(&all);
    if !beyond.is_empty() {
        eprintln!("{}", beyond_paths(&beyond));
    }
    let approver: Arc<dyn Approver> = if on_terminal {
        Arc::new(TerminalApprover(ask))
    } else {
        Arc::new(NoApprover)
    };
    let mut executor = ExecutorTools::new(ExecutorConfig {
        registry,
        policy,
        approver,
        ..ExecutorConfig::new(workspace)
    });
    if let Some(servers) = &servers {
        executor = executor.with_servers(Arc::clone(servers));
    }
    let executor = Some(executor);
    Ok((ChatTools { executor, servers }, questions))
}

/// Connects the servers that a file names, and adds their tools to the others.
async fn connect(
    file: &Path,
    workspace: &Workspace,
    all: &mut ToolRegistry,
) -> Result<Arc<McpServers>, Failure> {
    // A chat has no store for a server's own questions: it replies that no person answers.
    let config = McpServersConfig {
        logins: logins::folder(),
        ..McpServersConfig::new(read_servers(file)?, workspace.root())
    };
    let servers = connected(config, file, &|note| eprintln!("{note}")).await;
    servers
        .put_into(all)
        .map_err(|error| Failure::new(Exit::Usage, crate::causes(&error)))?;
    Ok(servers)
}

fn policy(arguments: &ChatArguments) -> Result<PermissionPolicy, Failure> {
    let policy = match &arguments.permissions {
        Some(file) => read_policy(file)?,
        None => usual_policy(),
    };
    PermissionPolicy::new(&policy)
        .map_err(|error| Failure::new(Exit::Usage, format!("--permissions: {error}")))
}

/// Reading is allowed, and a person is asked about everything else.
fn usual_policy() -> PolicyConfig {
    PolicyConfig {
        rules: vec![RuleConfig {
            tool: READING.to_owned(),
            arguments: Default::default(),
            then: Permission::Allow,
            reason: None,
            uninterruptible: false,
        }],
        paths: Vec::new(),
        otherwise: Permission::Ask,
    }
}

fn read_policy(file: &Path) -> Result<PolicyConfig, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        let text = format!("--permissions: cannot read {}: {error}", file.display());
        Failure::new(Exit::NotFound, text)
    })?;
    toml::from_str(&text).map_err(|error| {
        let text = format!("--permissions: {} cannot be used:\n{error}", file.display());
        Failure::new(Exit::Usage, text)
            .hint("write `otherwise = \"ask\"`, and rules as [[rules]] with `tool` and `then`")
    })
}
