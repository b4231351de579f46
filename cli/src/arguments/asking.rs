//! The arguments of commands through which programs outside ask people.

use std::net::SocketAddr;

use clap::Args;
use jiff::SignedDuration;

use crate::time::parse_duration;

/// The arguments of `irq mcp`.
///
/// Only the protocol goes to standard output; what there is to say goes to standard error.
#[derive(Debug, Args)]
#[command(after_help = MCP_HELP)]
pub(crate) struct McpArguments {
    /// Listen here for streamable HTTP at /mcp, instead of using standard input and output; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// The name of the client's session: after a restart the same name finds its open questions again [default: the
    /// client's own name, with the folder]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// How long a tool waits for an answer before it hands back a ticket, unless its caller says
    #[arg(long, value_name = "TIME", default_value = "50s", value_parser = parse_duration)]
    pub(crate) wait: SignedDuration,
}

const MCP_HELP: &str = "\
Claude Code:
  claude mcp add irq -- irq mcp

Any other client that starts its servers, in its JSON:
  {
    \"mcpServers\": {
      \"irq\": {\"command\": \"irq\", \"args\": [\"mcp\"]}
    }
  }

Over HTTP, once for all clients of this machine:
  irq mcp --listen 127.0.0.1:7071
  {\"mcpServers\": {\"irq\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:7071/mcp?session=NAME\"}}}

Tools: ask_human, request_approval, await_answer, withdraw, list_open.
People answer with `irq review`, `irq watch`, or on the page of `irq serve` over the same store.
";
