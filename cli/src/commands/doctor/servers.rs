//! The MCP servers of a file: whether each can be reached, and what it offers.

use std::path::Path;

use tools::{McpServers, McpServersConfig};

use super::finding::Finding;
use crate::logins;
use crate::tooling::read_servers;

/// The name of these checks.
const WHAT: &str = "mcp";

/// Starts or reaches each server, lists its tools, and disconnects.
///
/// # Cancel safety
///
/// If dropped, the servers that were started end.
pub(super) async fn findings(file: &Path) -> Vec<Finding> {
    let config = match read_servers(file) {
        Ok(config) => config,
        Err(failure) => {
            let remedy = "docs/tools.md says what such a file may say";
            return vec![Finding::problem(WHAT, failure.to_string(), remedy)];
        }
    };
    let names: Vec<_> = config.servers.keys().cloned().collect();
    let folder = std::env::current_dir().unwrap_or_else(|_gone| Path::new("/").to_owned());
    let servers = McpServers::new(McpServersConfig {
        logins: logins::folder(),
        ..McpServersConfig::new(config, folder)
    });
    let failures = servers.connect().await;
    let tools = servers.tools();
    let mut findings: Vec<Finding> = failures
        .iter()
        .map(|failure| {
            let found = format!("{}: {}", failure.server, logins::why(&failure.error, file));
            Finding::problem(
                WHAT,
                found,
                "its command or url, and what it writes, say more",
            )
        })
        .collect();
    let reached = names
        .iter()
        .filter(|name| failures.iter().all(|failure| failure.server != **name));
    findings.extend(reached.map(|name| {
        let beginning = format!("{name}__");
        let its = |tool: &&std::sync::Arc<dyn tools::Tool>| {
            tool.spec().name.as_str().starts_with(&beginning)
        };
        let count = tools.iter().filter(its).count();
        Finding::well(WHAT, format!("{name} is reached, and offers {count} tools"))
    }));
    let notes = servers.notes().into_iter();
    findings.extend(notes.map(|note| {
        Finding::note(
            WHAT,
            note,
            "the other tools can be used; tell the makers of the server",
        )
    }));
    for (server, report) in servers.close().await {
        if !report.verified {
            let found = format!("something of {server} may still run");
            findings.push(Finding::problem(
                WHAT,
                found,
                "look for its processes by hand",
            ));
        }
    }
    findings
}
