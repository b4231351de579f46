//! The arguments of commands through which programs outside ask people.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use crate::hook::{CodingAgent, EventName};
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

/// The arguments of `irq mcp-login`.
///
/// The page of the login goes to standard error, what came of it to standard output.
#[derive(Debug, Args)]
pub(crate) struct McpLoginArguments {
    /// The server, by its name in the file
    pub(crate) server: String,
    /// The file that names it
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp: PathBuf,
    /// Log in anew, where there is a login already: as another person
    #[arg(long)]
    pub(crate) again: bool,
    /// Only forget the login
    #[arg(long, conflicts_with = "again")]
    pub(crate) forget: bool,
    /// Open the page in the browser too
    #[arg(long)]
    pub(crate) open: bool,
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

/// The arguments of `irq hook`.
#[derive(Debug, Args)]
pub(crate) struct HookArguments {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: HookCommand,
}

/// What `irq hook` does.
#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Answer the hook of Claude Code, whose event is on standard input: ask a person, and print the decision
    ClaudeCode(HookRunArguments),
    /// Answer the hook of Codex, whose event is on standard input: ask a person, and print the decision
    Codex(HookRunArguments),
    /// Answer the plugin of opencode, whose event is on standard input: ask a person, and print the decision
    Opencode(HookRunArguments),
    /// Put the hook into the settings of an agent, or a plugin beside those of opencode: shows the change first, and asks
    Install(HookInstallArguments),
    /// Take the hook, or the plugin, out of the settings of an agent: shows the change first, and asks
    Remove(HookRemoveArguments),
}

/// How an agent is answered.
#[derive(Debug, Args)]
pub(crate) struct HookRunArguments {
    /// How long to wait for a person; no answer is a refusal
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_duration)]
    pub(crate) timeout: SignedDuration,
}

/// What is installed, and where.
#[derive(Debug, Args)]
pub(crate) struct HookInstallArguments {
    /// The agent
    #[arg(value_name = "AGENT")]
    pub(crate) agent: CodingAgent,
    /// In the settings of the project in this folder; so it is without --user, too
    #[arg(long, conflicts_with = "user")]
    pub(crate) project: bool,
    /// In your own settings, for all projects
    #[arg(long)]
    pub(crate) user: bool,
    /// The tools that a person is asked about, as the agent names them: `Bash`, `Edit|Write`; of opencode `bash`, `edit`
    #[arg(long, value_name = "PATTERN", default_value = "*")]
    pub(crate) matcher: String,
    /// When: where the agent would ask its user, or before each use of a tool
    #[arg(long, value_name = "EVENT", default_value = "permission-request")]
    pub(crate) event: EventName,
    /// How long a person has; no answer is a refusal
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_duration)]
    pub(crate) timeout: SignedDuration,
    /// Make the change that is shown without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Where it is removed.
#[derive(Debug, Args)]
pub(crate) struct HookRemoveArguments {
    /// The agent
    #[arg(value_name = "AGENT")]
    pub(crate) agent: CodingAgent,
    /// From the settings of the project in this folder; so it is without --user, too
    #[arg(long, conflicts_with = "user")]
    pub(crate) project: bool,
    /// From your own settings
    #[arg(long)]
    pub(crate) user: bool,
    /// Make the change that is shown without asking
    #[arg(long)]
    pub(crate) yes: bool,
}
