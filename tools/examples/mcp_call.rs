//! Calls a tool of an MCP server and prints what it answers. The servers are in a TOML file:
//! `cargo run -p interrupt-router-tools --example mcp_call -- servers.toml files__read '{"path": "a"}'`; without a tool, lists them all.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use tools::{
    Executor, ExecutorConfig, McpConfig, McpServers, McpServersConfig, Permission,
    PermissionPolicy, Progress, ProgressSink, RequestedCall, Workspace,
};

/// Shows how far the tool is.
struct Show;

impl ProgressSink for Show {
    fn progress(&self, progress: Progress) {
        if let Progress::Step { done, total, .. } = progress {
            eprintln!("{done} of {}", total.unwrap_or(f64::NAN));
        }
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

#[tokio::main(flavor = "current_thread")]
async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name a file of servers")?;
    let here = std::env::current_dir()?;
    let config = McpConfig::read(Path::new(&file))?;
    let servers = McpServers::new(McpServersConfig::new(config, &here));
    for failure in servers.connect().await {
        eprintln!("{}", failure.error);
    }
    let mut config = ExecutorConfig::new(Workspace::open(&here)?);
    servers.put_into(&mut config.registry)?;
    servers.limit(&mut config.limits);
    config.policy = PermissionPolicy::always(Permission::Allow);
    config.progress = Arc::new(Show);
    let Some(tool) = arguments.next() else {
        for spec in config.registry.specs() {
            println!("{}: {}", spec.name, spec.description);
        }
        return Ok(());
    };
    let executor = Executor::new(config);
    let call = RequestedCall::new("1", tool, arguments.next().unwrap_or_default());
    let running = executor.execute(vec![call]);
    for message in running.await?.messages {
        println!("{}", message.text());
    }
    servers.close().await;
    Ok(())
}
