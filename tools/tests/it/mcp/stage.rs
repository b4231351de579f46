//! What the tests of servers share: a server of each kind, an executor with its tools, a log of what the server does.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tools::{
    CallEnd, ControllerConfig, Elicitor, Executor, ExecutorConfig, InterruptController, LoginGuide,
    McpConfig, McpServers, McpServersConfig, NoApprover, Permission, PermissionPolicy, Progress,
    ProgressSink, RequestedCall, ToolCounter, ToolCounts, ToolMessage, WantedMechanism,
};

use crate::scene::{containment, workspace};

/// What the server of a test is written on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sdk {
    Python,
    Node,
}

/// How it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Stdio,
    Http,
}

/// The folder that the SDKs are installed in.
pub(crate) fn installed() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("mcp");
    assert!(
        folder.join("installed").exists(),
        "the SDKs that the MCP servers of the tests are written on are not installed; run tools/tests/mcp/install"
    );
    folder
}

pub(crate) fn source(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp");
    folder.join(name).to_str().unwrap().to_owned()
}

/// The command line of a server.
pub(crate) fn command(sdk: Sdk, way: Way) -> Vec<String> {
    let way = match way {
        Way::Stdio => "stdio",
        Way::Http => "http",
    };
    let (program, source) = match sdk {
        Sdk::Python => (
            installed()
                .join("python/bin/python")
                .to_str()
                .unwrap()
                .to_owned(),
            source("server.py"),
        ),
        Sdk::Node => ("node".to_owned(), source("server.mjs")),
    };
    vec![program, source, way.to_owned()]
}

/// The folder whose modules a server on Node uses.
pub(crate) fn modules() -> String {
    installed().join("node").to_str().unwrap().to_owned()
}

/// Keeps the progress that tools told.
#[derive(Default)]
pub(crate) struct Steps(Mutex<Vec<Progress>>);

impl Steps {
    pub(crate) fn all(&self) -> Vec<Progress> {
        self.0.lock().unwrap().clone()
    }
}

impl ProgressSink for Steps {
    fn progress(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }
}

/// A server that somebody else started, and that goes with the test.
pub(crate) struct Elsewhere {
    child: Child,
    pub(crate) port: u16,
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// One server called `s`, and an executor with its tools.
pub(crate) struct Stage {
    pub(crate) servers: McpServers,
    pub(crate) executor: Executor,
    pub(crate) steps: Arc<Steps>,
    pub(crate) counts: Arc<ToolCounts>,
    pub(crate) folder: tempfile::TempDir,
    elsewhere: Option<Elsewhere>,
}

/// What is different on a stage.
pub(crate) struct Setting {
    /// Lines of the server's table.
    pub(crate) more: String,
    pub(crate) elicitor: Arc<dyn Elicitor>,
    /// The limit of a call.
    pub(crate) limit: Duration,
    pub(crate) guide: Arc<dyn LoginGuide>,
    /// The folder that keeps logins.
    pub(crate) logins: Option<PathBuf>,
    /// Variables of a server on the network.
    pub(crate) variables: Vec<(&'static str, &'static str)>,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            more: "limits = { cancel = \"1s\" }".to_owned(),
            elicitor: Arc::new(NoApprover),
            limit: Duration::from_secs(60),
            guide: Arc::new(NoApprover),
            logins: None,
            variables: Vec::new(),
        }
    }
}

impl Stage {
    /// A stage with one of the servers that are written for the tests.
    pub(crate) async fn with(sdk: Sdk, way: Way, setting: Setting) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let command = command(sdk, way);
        let (reach, elsewhere) = match way {
            Way::Stdio => {
                let reach = format!(
                    "command = {}\nargs = {}\nenv = {{ LOG = {}, MODULES = {} }}",
                    json!(command[0]),
                    json!(command[1..]),
                    json!(log),
                    json!(modules())
                );
                (reach, None)
            }
            Way::Http => {
                let (port, elsewhere) = serve(&command, &log, &setting.variables);
                let reach = format!("url = \"http://127.0.0.1:{port}/mcp\"");
                (reach, Some(elsewhere))
            }
        };
        let mut stage = Self::of(&format!("{reach}\n{}", setting.more), &setting, folder).await;
        stage.elsewhere = elsewhere;
        stage
    }

    /// Ends the server that somebody else started.
    pub(crate) fn end_elsewhere(&mut self) {
        self.elsewhere = None;
    }

    /// Starts it again on the same port.
    pub(crate) fn start_elsewhere(&mut self, port: u16) {
        let log = self.folder.path().join("log");
        let command = command(Sdk::Python, Way::Http);
        let (_port, elsewhere) = serve(&command, &log, &[("PORT", &port.to_string())]);
        self.elsewhere = Some(elsewhere);
    }

    /// The port of the server that somebody else started.
    pub(crate) fn port(&self) -> u16 {
        self.elsewhere.as_ref().unwrap().port
    }

    pub(crate) async fn new(sdk: Sdk, way: Way) -> Self {
        Self::with(sdk, way, Setting::default()).await
    }

    /// A stage with the server of this table.
    pub(crate) async fn of(table: &str, setting: &Setting, folder: tempfile::TempDir) -> Self {
        let stage = Self::unconnected(table, setting, folder);
        let failures = stage.servers.connect().await;
        assert!(failures.is_empty(), "{failures:?}");
        stage.with_tools()
    }

    /// The same before anything is started.
    pub(crate) fn unconnected(table: &str, setting: &Setting, folder: tempfile::TempDir) -> Self {
        let text = format!("[servers.s]\n{table}\n");
        let config = McpConfig::from_toml(&text, &|name| std::env::var_os(name)).unwrap();
        let counts = Arc::new(ToolCounts::new());
        let servers = McpServers::new(McpServersConfig {
            containment: containment(WantedMechanism::Best),
            elicitor: Arc::clone(&setting.elicitor),
            counter: Arc::clone(&counts) as Arc<dyn ToolCounter>,
            guide: Arc::clone(&setting.guide),
            logins: setting.logins.clone(),
            ..McpServersConfig::new(config, folder.path())
        });
        let (_folder, workspace) = workspace();
        let steps = Arc::new(Steps::default());
        let mut config = ExecutorConfig::new(workspace);
        config.policy = PermissionPolicy::always(Permission::Allow);
        config.progress = Arc::clone(&steps) as Arc<dyn ProgressSink>;
        config.counter = Arc::clone(&counts) as Arc<dyn ToolCounter>;
        config.at_once = 64.try_into().unwrap();
        config.limits.others = Some(setting.limit);
        config.controller = InterruptController::new(ControllerConfig {
            limit: Duration::from_secs(20),
            counter: Arc::clone(&counts) as Arc<dyn ToolCounter>,
            ..ControllerConfig::default()
        });
        Self {
            servers,
            executor: Executor::new(config),
            steps,
            counts,
            folder,
            elsewhere: None,
        }
    }

    /// With the tools as they are listed now.
    pub(crate) fn with_tools(mut self) -> Self {
        self.take_tools();
        self
    }

    pub(crate) fn take_tools(&mut self) {
        let mut config = self.executor.config().clone();
        self.servers.put_into(&mut config.registry).unwrap();
        self.executor = Executor::new(config);
    }

    /// Calls a tool of the server.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolMessage {
        let call = RequestedCall::new("1", format!("s__{tool}"), arguments.to_string());
        let end = self.executor.execute(vec![call]).await.unwrap();
        end.messages.into_iter().next().unwrap()
    }

    /// Calls a tool and interrupts it once the log has this line.
    pub(crate) async fn interrupted(
        &self,
        tool: &str,
        arguments: Value,
        line: &str,
    ) -> ToolMessage {
        let interrupting = async {
            self.wait_for(line).await;
            let reason = crate::scene::by_user("enough");
            self.executor.config().controller.cancel(reason).await
        };
        let (message, _cancellation) = tokio::join!(self.call(tool, arguments), interrupting);
        message
    }

    /// The lines that the server wrote so far.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn count(&self, start: &str) -> usize {
        self.log()
            .iter()
            .filter(|line| line.starts_with(start))
            .count()
    }

    /// The pids of the server's processes, in the order of their starts.
    pub(crate) fn pids(&self) -> Vec<i32> {
        let lines = self.log();
        let pids = lines
            .iter()
            .filter_map(|line| line.strip_prefix("started "));
        pids.map(|pid| pid.parse().unwrap()).collect()
    }

    /// Waits until the log has a line that begins like this.
    pub(crate) async fn wait_for(&self, start: &str) {
        self.wait_until(&format!("a line `{start}`"), || self.count(start) > 0)
            .await;
    }

    pub(crate) async fn wait_until(&self, what: &str, so: impl Fn() -> bool) {
        let patience = Instant::now() + Duration::from_secs(20);
        while !so() {
            assert!(Instant::now() < patience, "no {what} in {:?}", self.log());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Starts a server that prints its port.
pub(crate) fn serve(
    command: &[String],
    log: &Path,
    variables: &[(&str, &str)],
) -> (u16, Elsewhere) {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .env("LOG", log)
        .env("MODULES", modules())
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let port = line.trim().parse().unwrap();
    (port, Elsewhere { child, port })
}

pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .map(|(_name, rest)| rest.trim_start().to_owned());
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
}

/// The text of a call that finished.
#[track_caller]
pub(crate) fn finished(message: &ToolMessage) -> &str {
    let CallEnd::Finished { output } = &message.end else {
        panic!("{:?}", message.end);
    };
    &output.text
}
