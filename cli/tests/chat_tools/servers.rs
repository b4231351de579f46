//! The tools of MCP servers in a conversation: asked about as the others, listed as they are at the time, and gone with it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::providers::{ProviderDouble, SaidCall};

use super::{
    FORM, TAKES_ANSWERS, allowing, answered, asking, on_terminal, piped, press, records, served_by,
};

/// A server whose first call brings it one more tool. It asks a person who `someone` is.
const SERVER: &str = r#"
import json, sys

log = open(sys.argv[1], "a", buffering=1)
tools = ["greet"]
call = None

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def greet():
    global call
    say({"id": call[0], "result": {"content": [{"type": "text", "text": "hello " + call[1]}]}})
    call = None

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        say({"id": id, "result": {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "desk", "version": "1"}}})
    elif method == "tools/list":
        say({"id": id, "result": {"tools": [{"name": name, "description": "is polite",
            "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}}} for name in tools]}})
        if call and call[1] == "someone":
            say({"id": "ask", "method": "elicitation/create", "params": {"message": "Who is it for?",
                "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}})
        elif call:
            greet()
    elif method == "tools/call":
        log.write("call\n")
        call = (id, message["params"]["arguments"]["name"])
        tools = ["greet", "part"]
        say({"method": "notifications/tools/list_changed"})
    elif id == "ask" and "result" in message:
        log.write(message["result"]["action"] + "\n")
        greet()
log.write("left\n")
"#;

/// A folder with the server and a file that names it, beside one that is not there.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(TempDir::new().unwrap());
        std::fs::write(desk.file("desk.py"), SERVER).unwrap();
        let (script, log) = (desk.file("desk.py"), desk.file("desk.log"));
        let servers = format!(
            "[servers.desk]\ncommand = \"python3\"\nargs = [{script:?}, {log:?}]\n\
             [servers.gone]\ncommand = \"/nowhere/server\"\n"
        );
        std::fs::write(desk.file("servers.toml"), servers).unwrap();
        desk
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn servers(&self) -> String {
        self.file("servers.toml").to_str().unwrap().to_owned()
    }

    /// What the server has met.
    fn log(&self) -> String {
        std::fs::read_to_string(self.file("desk.log")).unwrap_or_default()
    }
}

fn greeting(name: &str) -> SaidCall {
    SaidCall::new("call_1", "desk__greet", &json!({"name": name}).to_string())
}

/// The names of the tools that a model was offered with a request.
fn offered(double: &ProviderDouble, request: usize) -> Vec<String> {
    let body: Value = serde_json::to_value(&double.received()[request].body).unwrap();
    let tools = body["tools"].as_array().unwrap().iter();
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
    tools.map(name).collect()
}

fn talking(double: &ProviderDouble, folder: &Path, more: &[&str]) -> std::process::Output {
    let model = served_by(double);
    let mut arguments: Vec<&str> = model.iter().map(String::as_str).collect();
    arguments.extend(more);
    piped(folder, &arguments, "greet her\nand again\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_about_the_tool_of_a_server_which_leaves_with_the_conversation() {
    for (answer, log) in [("y\r", "call\nleft\n"), ("n not her\r", "left\n")] {
        let double = asking(vec![greeting("Ada")]).await;
        let (desk, folder) = (Desk::new(), TempDir::new().unwrap());
        let (model, servers) = (served_by(&double), desk.servers());
        let mut arguments: Vec<&str> = model.iter().map(String::as_str).collect();
        arguments.extend(["--mcp", &servers]);
        let mut session = on_terminal(&arguments, folder.path());
        press(&mut session, "greet her\r");
        session
            .exp_string("The model wants to run desk__greet")
            .unwrap();
        session.exp_string("Allow exactly this, once?").unwrap();
        assert_eq!(desk.log(), "", "not before");
        session.exp_string(TAKES_ANSWERS).unwrap();
        press(&mut session, answer);
        session.exp_regex(&answered()).unwrap();
        let results = FORM.tool_results(&double.received()[1].body);
        let told = if answer.starts_with('y') {
            "hello Ada"
        } else {
            "not her"
        };
        assert!(results[0].contains(told), "{results:?}");
        press(&mut session, "\u{4}");
        session.exp_eof().unwrap();
        assert_eq!(desk.log(), log);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_hold_for_servers_too_and_the_tools_are_those_that_are_listed_at_the_time() {
    let (desk, folder) = (Desk::new(), TempDir::new().unwrap());
    let servers = desk.servers();
    let double = asking(vec![greeting("Ada")]).await;
    let denied = talking(&double, folder.path(), &["--mcp", &servers]);
    assert!(denied.status.success(), "{denied:?}");
    let ended = records(&denied, "toolEnded");
    assert_eq!(ended[0]["state"], "denied", "{denied:?}");
    assert_eq!(desk.log(), "left\n");
    let said = String::from_utf8_lossy(&denied.stderr);
    assert!(said.contains("the tools of gone are not there"), "{said}");

    let policies = TempDir::new().unwrap();
    let allowed = allowing(&policies);
    let double = asking(vec![greeting("someone")]).await;
    let more = ["--mcp", &servers, "--permissions", &allowed];
    let talked = talking(&double, folder.path(), &more);
    let ended = records(&talked, "toolEnded");
    let text = ended[0]["text"].as_str().unwrap();
    assert!(text.contains("nobody can answer what it asks"), "{text}");
    assert!(text.contains("hello someone"), "{text}");
    let before = offered(&double, 0);
    assert!(before.contains(&"desk__greet".to_owned()), "{before:?}");
    assert!(before.contains(&"read_file".to_owned()), "{before:?}");
    assert!(!before.contains(&"desk__part".to_owned()), "{before:?}");
    let after = offered(&double, 2);
    assert!(after.contains(&"desk__part".to_owned()), "{after:?}");
    assert_eq!(desk.log(), "left\ncall\ncancel\nleft\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_cannot_be_read_are_named_before_anything_is_sent() {
    let double = asking(Vec::new()).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("servers.toml");
    let servers = file.to_str().unwrap().to_owned();
    let absent = talking(&double, folder.path(), &["--mcp", &servers]);
    assert_eq!(absent.status.code(), Some(3), "{absent:?}");
    std::fs::write(&file, "[servers.desk]\n").unwrap();
    let strange = talking(&double, folder.path(), &["--mcp", &servers]);
    assert_eq!(strange.status.code(), Some(2), "{strange:?}");
    let said = String::from_utf8_lossy(&strange.stderr);
    assert!(said.contains("servers.desk.command"), "{said}");
    assert!(double.received().is_empty());
}
