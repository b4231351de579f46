//! An MCP client that has started `irq mcp`, as Claude Code and others do.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, Implementation, ProgressNotificationParam, ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, PeerRequestOptions, RequestHandle, RoleClient,
    RunningService, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ServiceExt as _};
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::program::{end, irq, lines};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with a store, in which clients start their servers.
pub(super) struct Bench {
    pub(super) folder: tempfile::TempDir,
    store: PathBuf,
}

/// A client, and the server that it has started.
pub(super) struct Client {
    server: Option<Child>,
    service: RunningService<RoleClient, Heard>,
}

/// What a server tells its client by the way.
#[derive(Clone)]
struct Heard {
    name: &'static str,
    progress: Arc<Mutex<Vec<String>>>,
}

/// What a tool has answered.
#[derive(Debug)]
pub(super) struct Told(CallToolResult);

impl Bench {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("irq.db");
        Self { folder, store }
    }

    /// One over the store of a server.
    pub(super) fn over(store: PathBuf) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, store }
    }

    pub(super) fn irq(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = irq();
        command.args(arguments).env("IRQ_STORE", &self.store);
        command
            .env("IRQ_USER", "ann")
            .current_dir(self.folder.path());
        command
    }

    /// What a command has printed.
    #[track_caller]
    pub(super) fn does(&self, arguments: &[&str]) -> String {
        end(&mut self.irq(arguments)).exits_with(0).output
    }

    /// A person decides.
    #[track_caller]
    pub(super) fn answers(&self, question: &str, decision: &str, message: &str) {
        self.does(&[
            "review",
            question,
            "--decision",
            decision,
            "--message",
            message,
        ]);
    }

    /// Starts a server, and a session with it.
    pub(super) async fn client(&self) -> Client {
        self.client_with(&[]).await
    }

    /// As [`Bench::client`], with more arguments.
    pub(super) async fn client_with(&self, arguments: &[&str]) -> Client {
        let arguments = [&["mcp"], arguments].concat();
        self.client_of(&mut self.irq(&arguments), ClientLifecycleMode::Initialize)
            .await
    }

    /// As [`Bench::client`], of a command, in an era of the protocol.
    pub(super) async fn client_of(
        &self,
        command: &mut std::process::Command,
        era: ClientLifecycleMode,
    ) -> Client {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut command = Command::from(std::mem::replace(command, irq()));
        let mut server = command.kill_on_drop(true).spawn().unwrap();
        let transport = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
        let begun = serve_client_with_lifecycle(Heard::new("probe"), transport, era);
        let service = begun.await.unwrap();
        let server = Some(server);
        Client { server, service }
    }

    /// A session with a server that listens.
    pub(super) async fn client_at(&self, address: &str) -> Client {
        // The client of the protocol library takes the provider that is installed.
        let _installed = tls::provider();
        let transport = StreamableHttpClientTransport::from_uri(address);
        let service = Heard::new("probe").serve(transport).await.unwrap();
        let server = None;
        Client { server, service }
    }

    /// The questions that wait for a person.
    pub(super) fn waiting(&self) -> Vec<Value> {
        lines(&self.does(&["review", "--json"]))
    }

    /// The ids of the questions that wait, once there are so many.
    pub(super) async fn questions(&self, count: usize) -> Vec<String> {
        let begun = std::time::Instant::now();
        loop {
            let waiting = self.waiting();
            if waiting.len() == count {
                let id = |it: &Value| it["id"].as_str().unwrap().to_owned();
                return waiting.iter().map(id).collect();
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "{count} questions: {waiting:#?}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The runs, those that have ended too, oldest first.
    pub(super) fn runs(&self) -> Vec<Value> {
        let mut runs = lines(&self.does(&["ps", "--all", "--json"]));
        runs.reverse();
        runs
    }

    /// The states of all runs, once they are so.
    #[track_caller]
    pub(super) fn run_states(&self) -> Vec<String> {
        let state = |run: Value| run["state"].as_str().unwrap().to_owned();
        self.runs().into_iter().map(state).collect()
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Client {
    /// Calls a tool, and waits for its result.
    pub(super) async fn calls(&self, tool: &'static str, arguments: Value) -> Told {
        self.result_of(self.begins(tool, arguments).await)
            .await
            .unwrap()
    }

    /// Calls a tool whose result comes later.
    pub(super) async fn begins(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> RequestHandle<RoleClient> {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
        let options = PeerRequestOptions::no_options();
        let begun = self.service.send_cancellable_request(request, options);
        begun.await.unwrap()
    }

    /// What a call has come to.
    pub(super) async fn result_of(
        &self,
        call: RequestHandle<RoleClient>,
    ) -> Result<Told, ServiceError> {
        let answered = tokio::time::timeout(PATIENCE, call.await_response()).await;
        let result = answered.expect("the call takes too long")?;
        let ServerResult::CallToolResult(result) = result else {
            panic!("{result:?}");
        };
        Ok(Told(result))
    }

    /// The tools, as the server lists them.
    pub(super) async fn tools(&self) -> Vec<Value> {
        let tools = self.service.list_all_tools().await.unwrap();
        tools
            .into_iter()
            .map(|tool| serde_json::to_value(tool).unwrap())
            .collect()
    }

    /// What the server has told of its progress.
    pub(super) fn progress(&self) -> Vec<String> {
        self.service.service().progress.lock().unwrap().clone()
    }

    /// The server dies, as if the kernel had killed it.
    pub(super) async fn dies(mut self) {
        self.server.take().unwrap().kill().await.unwrap();
    }

    /// The client ends, and closes the server's standard input. Returns once the server has ended, with its exit code.
    pub(super) async fn leaves(mut self) -> Option<i32> {
        let mut server = self.server.take().unwrap();
        self.service.cancel().await.unwrap();
        let ended = tokio::time::timeout(PATIENCE, server.wait()).await;
        ended.expect("the server stays").unwrap().code()
    }
}

impl Heard {
    fn new(name: &'static str) -> Self {
        let progress = Arc::default();
        Self { name, progress }
    }
}

impl ClientHandler for Heard {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new(self.name, "1.0.0");
        ClientConfig::new(ClientCapabilities::default(), own)
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let message = told.message.unwrap_or_default();
        self.progress.lock().unwrap().push(message);
    }
}

impl Told {
    /// What it says for programs, where it is no error.
    #[track_caller]
    pub(super) fn fine(self) -> Value {
        assert_ne!(self.0.is_error, Some(true), "{self:?}");
        self.0.structured_content.unwrap()
    }

    /// What it says for models.
    pub(super) fn text(&self) -> String {
        let text = |it: &rmcp::model::ContentBlock| Some(it.as_text()?.text.clone());
        self.0.content.iter().filter_map(text).collect()
    }

    /// The error, which has a hint.
    #[track_caller]
    pub(super) fn refused(self) -> String {
        assert_eq!(self.0.is_error, Some(true), "{self:?}");
        let text = self.text();
        assert!(text.contains("\nHint: "), "{text}");
        text
    }
}
