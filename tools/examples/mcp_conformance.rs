//! The client under the conformance suite of the protocol, which starts it with the address of a test server:
//! `tools/tests/conformance/check` runs it. Nothing of the protocol is here: this is the person beside the client, who
//! logs in wherever asked and answers each question by leaving everything out, and a model that calls each tool once.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::StopScope;
use serde_json::{Value, json};
use tools::{
    CallEnd, ElicitationAnswer, ElicitationRequest, Elicitor, Executor, ExecutorConfig, LoginGuide,
    LoginPage, McpConfig, McpServers, McpServersConfig, Permission, PermissionPolicy,
    RequestedCall, Workspace,
};

/// The document that the suite's authorization server knows.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// Opens each page, and has nothing to say to the forms of servers.
struct Person;

#[async_trait]
impl LoginGuide for Person {
    fn has_person(&self) -> bool {
        true
    }

    async fn show(&self, page: LoginPage) {
        // The suite's pages send everybody straight back.
        if let Err(error) = tls::get(&page.url).await {
            eprintln!("the page of the login cannot be opened: {error}");
        }
    }
}

#[async_trait]
impl Elicitor for Person {
    async fn elicit(&self, _request: ElicitationRequest, _scope: &StopScope) -> ElicitationAnswer {
        ElicitationAnswer::Accept { content: json!({}) }
    }
}

fn main() -> ExitCode {
    // First thing: this program is its own keeper.
    if let Some(code) = tools::main_if_keeper() {
        return code;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The configuration of the server, with what the suite says of the scenario.
fn configuration(url: &str) -> Result<String, Box<dyn Error>> {
    let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_none| "{}".to_owned());
    let context: BTreeMap<String, Value> = serde_json::from_str(&context)?;
    let mut login = format!("client_metadata = {}\n", json!(DOCUMENT));
    for field in ["client_id", "client_secret"] {
        if let Some(value) = context.get(field) {
            login.push_str(&format!("{field} = {value}\n"));
        }
    }
    Ok(format!(
        "[servers.suite]\nurl = {}\n[servers.suite.login]\n{login}",
        json!(url)
    ))
}

#[tokio::main(flavor = "current_thread")]
async fn run() -> Result<(), Box<dyn Error>> {
    let url = env::args().next_back().ok_or("name the server's address")?;
    let here = env::current_dir()?;
    let config = McpConfig::from_toml(&configuration(&url)?, &|name| env::var_os(name))?;
    let servers = McpServers::new(McpServersConfig {
        elicitor: Arc::new(Person),
        guide: Arc::new(Person),
        ..McpServersConfig::new(config, &here)
    });
    if let Some(failure) = servers.connect().await.into_iter().next() {
        return Err(failure.error.into());
    }
    let mut config = ExecutorConfig::new(Workspace::open(&here)?);
    servers.put_into(&mut config.registry)?;
    config.policy = PermissionPolicy::always(Permission::Allow);
    let names: Vec<String> = servers
        .tools()
        .iter()
        .map(|tool| tool.spec().name.as_str().to_owned())
        .collect();
    let executor = Executor::new(config);
    for name in names {
        let arguments = if name.ends_with("add_numbers") {
            json!({"a": 5, "b": 3})
        } else {
            json!({})
        };
        let call = RequestedCall::new("1", name, arguments.to_string());
        for message in executor.execute(vec![call]).await?.messages {
            println!("{}", message.text());
            if !matches!(message.end, CallEnd::Finished { .. }) {
                return Err("a call did not finish".into());
            }
        }
    }
    servers.close().await;
    Ok(())
}
