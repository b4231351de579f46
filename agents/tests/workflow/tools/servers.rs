//! Servers whose tools change while a run goes on.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::model::{ModelCall, ModelReply, TokenUsage};
use interrupt_router::{Outcome, StopScope};
use serde_json::json;
use tools::{McpConfig, McpServers, McpServersConfig};

use super::bench::*;
use crate::models::{Part, Playing, Reply};
use crate::stage::{Stage, assert_completed};

/// A server that has one tool more when the first has been used. It speaks the protocol by hand, over HTTP.
const GROWING: &str = r#"
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

names = ["grow"]

class Desk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, kind="text/plain", body=b""):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(405)

    def do_DELETE(self):
        self.answer(200)

    def do_POST(self):
        global names
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, id = message.get("method"), message.get("id")
        said = []
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "desk", "version": "1"}}
        elif method == "tools/list":
            result = {"tools": [{"name": name, "inputSchema": {"type": "object", "properties": {}}} for name in names]}
        elif method == "tools/call":
            name = message["params"]["name"]
            if name == "grow":
                names = ["grow", "grown"]
                said.append({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            result = {"content": [{"type": "text", "text": "did " + name}]}
        else:
            result = {}
        if id is None:
            return self.answer(202)
        said.append({"jsonrpc": "2.0", "id": id, "result": result})
        events = "".join("event: message\ndata: " + json.dumps(one) + "\n\n" for one in said)
        self.answer(200, "text/event-stream", events.encode())

server = ThreadingHTTPServer(("127.0.0.1", 0), Desk)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// How long the server may take to list its tools again.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server, until it is dropped.
struct Desk {
    child: Child,
    port: String,
}

impl Desk {
    fn start() -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", GROWING]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut port = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut port).unwrap();
        let port = port.trim().to_owned();
        Self { child, port }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _collected = self.child.wait();
    }
}

/// Uses the tool that is there, waits until the server has another one, and uses that.
struct Growing {
    servers: Arc<McpServers>,
    /// How often the list had changed before.
    before: u64,
    offered: Arc<Mutex<Vec<Vec<String>>>>,
}

#[async_trait]
impl Part for Growing {
    async fn play(&self, call: &mut ModelCall, _scope: &StopScope) -> Option<Reply> {
        let offered = std::mem::take(&mut call.tools);
        if call.caller.node.as_str() != WORKER || offered.is_empty() {
            return None;
        }
        let names = offered.iter().map(|offer| offer.name.clone());
        let of_server = names.filter(|name| name.starts_with("desk__")).collect();
        self.offered.lock().unwrap().push(of_server);
        let tool = match rounds_of(call) {
            0 => "desk__grow",
            1 => {
                let mut changes = self.servers.changes();
                let before = self.before;
                let grown = changes.wait_for(|count| *count > before);
                tokio::time::timeout(PATIENCE, grown)
                    .await
                    .unwrap()
                    .unwrap();
                "desk__grown"
            }
            _ => return None,
        };
        Some(Ok(Outcome::Completed(ModelReply {
            text: String::new(),
            tool_requests: vec![asks(tool, tool, &json!({}))],
            usage: TokenUsage::default(),
            cut_off: false,
        })))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_a_server_gets_later_is_offered_from_then_on_and_can_be_used() {
    let done = Arc::new(Done::default());
    let mut stage = Stage::new();
    let desk = Desk::start();
    let config = format!(
        "[servers.desk]\nurl = \"http://127.0.0.1:{}/mcp\"\n",
        desk.port
    );
    let file = stage.folder.path().join("servers.toml");
    std::fs::write(&file, config).unwrap();
    let config = McpConfig::read(&file).unwrap();
    let folder = stage.folder.path().to_owned();
    let servers = Arc::new(McpServers::new(McpServersConfig::new(config, folder)));
    let failed = servers.connect().await;
    assert!(failed.is_empty(), "{failed:?}");
    let mut agents = tools(&stage, &done, json!({"otherwise": "allow"}));
    agents.servers = Some(Arc::clone(&servers));
    stage.tools = Some(agents);
    let offered = Arc::<Mutex<Vec<Vec<String>>>>::default();
    let growing = Growing {
        before: *servers.changes().borrow(),
        servers: Arc::clone(&servers),
        offered: Arc::clone(&offered),
    };
    let model = Playing::new(growing, stage.rehearsal());
    let calls = Arc::clone(&model.calls);
    let stage = stage.played_by(model);
    assert_completed(&stage.execute().await);
    assert_eq!(results(&calls, WORKER), ["did grow", "did grown"]);
    let offered = offered.lock().unwrap().clone();
    assert_eq!(offered.first().unwrap(), &["desk__grow"]);
    assert_eq!(offered.last().unwrap(), &["desk__grow", "desk__grown"]);
    servers.close().await;
}
