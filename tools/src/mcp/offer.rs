//! What a server offers: its tools, and those that read its resources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rmcp::model::{ErrorCode, PaginatedRequestParams, ServerCapabilities};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::json;

use super::content::bounded;
use super::error::McpError;
use super::resources::ResourceRequest;
use super::server::Server;
use super::tool::Listed;

/// The most tools that are taken of one server.
const MOST_TOOLS: usize = 1000;

/// How much is shown of a cursor.
const LONGEST_CURSOR: usize = 64;

/// What a server offers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tools {
    /// The tools, by the names that models call them by.
    pub(super) listed: BTreeMap<String, Arc<Listed>>,
    /// What is not there, a sentence each.
    pub(super) notes: Vec<String>,
}

/// Reads the list of a server's tools to its end.
pub(super) async fn all(server: &Server, peer: &Peer<RoleClient>) -> Result<Tools, McpError> {
    let capabilities = peer.peer_info().map(|info| info.capabilities.clone());
    let capabilities = capabilities.unwrap_or_default();
    let mut tools = Tools::default();
    let (mut cursor, mut seen, mut cursors) = (None, 0, BTreeSet::new());
    loop {
        let page = PaginatedRequestParams::default().with_cursor(cursor.take());
        let page = match peer.list_tools(Some(page)).await {
            Ok(page) => page,
            // It said so: one that offers resources alone knows no such method.
            Err(error) if capabilities.tools.is_none() && is_unknown(&error) => break,
            Err(error) => return Err(server.refused("the listing of its tools", &error)),
        };
        for tool in &page.tools {
            seen += 1;
            tools.add(server, tool);
        }
        let Some(next) = page.next_cursor.filter(|_next| !page.tools.is_empty()) else {
            break;
        };
        if !cursors.insert(next.clone()) {
            let next = json!(bounded(&next, LONGEST_CURSOR));
            tools.is_cut(server, &format!("it repeats the cursor {next}"));
            break;
        }
        if seen >= MOST_TOOLS {
            tools.is_cut(server, &format!("it has more than {MOST_TOOLS} tools"));
            break;
        }
        cursor = Some(next);
    }
    tools.add_reading(server, &capabilities);
    tools.miss(server);
    Ok(tools)
}

fn is_unknown(error: &ServiceError) -> bool {
    matches!(error, ServiceError::McpError(said) if said.code == ErrorCode::METHOD_NOT_FOUND)
}

impl Tools {
    fn add(&mut self, server: &Server, tool: &rmcp::model::Tool) {
        if !is_wanted(server, &tool.name) {
            return;
        }
        match Listed::read(server, tool) {
            Ok(listed) => {
                let name = listed.spec.name.as_str().to_owned();
                // Of two with one name the first stays, as it does in the server itself.
                self.listed.entry(name).or_insert_with(|| Arc::new(listed));
            }
            Err(reason) => self.notes.push(format!(
                "the tool {} of {} is left out: {reason}",
                tool.name, server.name
            )),
        }
    }

    /// The list was not read to its end.
    fn is_cut(&mut self, server: &Server, why: &str) {
        let name = &server.name;
        let note = format!("the list of the tools of {name} was not read to its end: {why}");
        self.notes.push(note);
    }

    /// Adds the tools that read resources, where there are resources. A tool that the server gives such a name stays.
    fn add_reading(&mut self, server: &Server, capabilities: &ServerCapabilities) {
        if capabilities.resources.is_none() {
            return;
        }
        for reading in ResourceRequest::ALL {
            if is_wanted(server, reading.name()) {
                let listed = Listed::reading(server, reading);
                let name = listed.spec.name.as_str().to_owned();
                self.listed.entry(name).or_insert_with(|| Arc::new(listed));
            }
        }
    }

    /// Warns of tools that the configuration names and the server does not have.
    fn miss(&self, server: &Server) {
        let given: Vec<&str> = self.listed.values().map(|tool| tool.original()).collect();
        let wanted = server.config.tools.iter().flatten();
        for name in wanted.filter(|name| !given.contains(&name.as_str())) {
            tracing::warn!(server = %server.name, tool = name, "an MCP server does not have a tool that is named in its `tools`");
        }
    }
}

/// Whether the configuration takes a tool.
fn is_wanted(server: &Server, tool: &str) -> bool {
    let wanted = server.config.tools.as_ref();
    wanted.is_none_or(|wanted| wanted.contains(tool))
}
