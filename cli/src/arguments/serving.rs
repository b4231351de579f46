//! The arguments of commands that run an installation: the server, its tokens, its health.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use interrupts::Label;
use interrupts::life::Role;
use jiff::SignedDuration;

use super::{LimitArguments, ToolArguments};
use crate::number::{parse_count, parse_number};
use crate::time::parse_duration;

/// The bus of a server that has no broker.
pub(crate) const LOCAL_BUS: &str = "local";

/// The arguments of `irq serve`.
///
/// The address of the page goes to standard output, everything else to standard error.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Where it listens; port 0 takes a free one
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:7070",
        help_heading = "The network"
    )]
    pub(crate) listen: SocketAddr,
    /// The certificate that it shows, as PEM, with those of the authorities between behind it: other machines reach it over TLS
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_key",
        help_heading = "The network"
    )]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of that certificate, as PEM
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        help_heading = "The network"
    )]
    pub(crate) tls_key: Option<PathBuf>,
    /// A proxy before it speaks TLS with other machines; name the proxy's host with --host
    #[arg(long, conflicts_with = "tls_cert", help_heading = "The network")]
    pub(crate) behind_proxy: bool,
    /// A name under which browsers may reach it, beside localhost and addresses
    #[arg(long, value_name = "NAME", help_heading = "The network")]
    pub(crate) host: Vec<String>,
    /// How often one caller may ask in a second; short bursts may be twice as fast
    #[arg(
        long,
        value_name = "NUMBER",
        default_value = "200",
        value_parser = parse_count,
        help_heading = "The network"
    )]
    pub(crate) requests_per_second: NonZeroU32,
    /// How often one address may try to come in with what is no token, in a minute
    #[arg(
        long,
        value_name = "NUMBER",
        default_value = "30",
        value_parser = parse_count,
        help_heading = "The network"
    )]
    pub(crate) failures_per_minute: NonZeroU32,
    /// Where events are published to, and commands of supervisors come from: nats://HOST:PORT?tenant=NAME, or tls://;
    /// `local` is this server alone
    #[arg(
        long,
        value_name = "URL",
        default_value = LOCAL_BUS,
        help_heading = "The network"
    )]
    pub(crate) bus: String,
    /// Open the page in the browser
    #[arg(long, help_heading = "The network")]
    pub(crate) open: bool,
    /// Leave the runs of an earlier server where they stand
    #[arg(long, help_heading = "Runs")]
    pub(crate) no_resume: bool,
    /// Execute no runs: `irq worker` processes on the same store do
    #[arg(long, conflicts_with = "no_resume", help_heading = "Runs")]
    pub(crate) runs_by_workers: bool,
    #[command(flatten)]
    pub(crate) new_runs: NewRunArguments,
    #[command(flatten)]
    pub(crate) runs: ExecutingArguments,
}

/// The arguments of `irq worker`. Of a run that it takes, the server that started it has said what is in the order: the
/// workspace, the model, the tools.
#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// How many runs it executes at once; others stay for other workers
    #[arg(
        long,
        value_name = "NUMBER",
        default_value = "8",
        value_parser = parse_count,
        help_heading = "Runs"
    )]
    pub(crate) slots: NonZeroU32,
    /// What it has that runs may need: gpu, region=eu; several times for several
    #[arg(long, value_name = "LABEL", help_heading = "Runs")]
    pub(crate) label: Vec<Label>,
    /// Where it answers /livez, /readyz and /metrics, over HTTP and to anybody who asks: 127.0.0.1:7071
    #[arg(long, value_name = "ADDRESS", help_heading = "The network")]
    pub(crate) probes: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) runs: ExecutingArguments,
}

/// What a run gets that is started over the network and does not say it.
#[derive(Debug, Args)]
pub(crate) struct NewRunArguments {
    /// The folder that runs speak about; one that is started over the network may name a folder below it
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        help_heading = "New runs"
    )]
    pub(crate) workspace: PathBuf,
    #[command(flatten)]
    pub(crate) tools: ToolArguments,
    /// The model of runs that name none: `rehearsal`, or PROVIDER:NAME
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "rehearsal",
        help_heading = "New runs"
    )]
    pub(crate) model: String,
    /// Where that model's API is, for servers of your own
    #[arg(long, value_name = "URL", help_heading = "New runs")]
    pub(crate) base_url: Option<String>,
}

/// How runs are executed that were started over the network.
#[derive(Debug, Args)]
pub(crate) struct ExecutingArguments {
    /// How long requests and runs may take to end when this process stops
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration, help_heading = "Runs")]
    pub(crate) drain_timeout: SignedDuration,
    /// How long a run of which everything waits for people is kept in memory; it goes on from the store after that
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration, help_heading = "Runs")]
    pub(crate) put_aside_after: SignedDuration,
    /// How fast the rehearsal speaks; 0 is as fast as it goes
    #[arg(
        long,
        value_name = "TOKENS_PER_SECOND",
        default_value_t = 0,
        value_parser = parse_number::<u32>,
        help_heading = "Runs"
    )]
    pub(crate) pace: u32,
    /// What holds for all runs that are executed here; a run may bring tighter limits of its own
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
}

/// The arguments of `irq store`.
#[derive(Debug, Args)]
pub(crate) struct WholeStoreArguments {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

/// What `irq store` does.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy a store into an empty one, and verify both: a file into PostgreSQL, or the other way
    Copy(StoreCopyArguments),
}

/// The arguments of `irq store copy`.
#[derive(Debug, Args)]
pub(crate) struct StoreCopyArguments {
    /// The store that there is: a path, sqlite:PATH, or postgres://USER@HOST/DATABASE
    pub(crate) from: String,
    /// Where it is copied to
    pub(crate) to: String,
}

/// The arguments of `irq token`.
#[derive(Debug, Args)]
pub(crate) struct TokenArguments {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

/// What `irq token` does.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; its secret is shown once
    Create(TokenCreateArguments),
    /// List the tokens, without their secrets
    List(TokenListArguments),
    /// Make a token void
    Revoke(TokenRevokeArguments),
}

/// The arguments of `irq token create`.
#[derive(Debug, Args)]
pub(crate) struct TokenCreateArguments {
    /// Whose token it is: the name is kept in the audit
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,
    /// What it lets its holder do
    #[arg(long, value_enum, value_name = "ROLE", default_value_t = RoleChoice::Reviewer)]
    pub(crate) role: RoleChoice,
    /// With the role `agent`, the run that it is bound to: its holder sees and reaches nothing else
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// With the role `agent`, the agent that it is bound to, with those that it started: RUN/AGENT, or with --run its id there
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// With the role `worker`, the workflow whose runs its holder executes
    #[arg(long, value_name = "NAME", conflicts_with_all = ["run", "agent"])]
    pub(crate) workflow: Option<String>,
    /// How long it holds: 12h, 30d [default: for ever]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) lifetime: Option<SignedDuration>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq token list`.
#[derive(Debug, Args)]
pub(crate) struct TokenListArguments {
    /// Also those that are revoked or have run out
    #[arg(short, long)]
    pub(crate) all: bool,
    /// One token a line, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq token revoke`.
#[derive(Debug, Args)]
pub(crate) struct TokenRevokeArguments {
    /// The token's id, or its beginning; `irq token list` shows it
    #[arg(value_name = "TOKEN")]
    pub(crate) token: String,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// A role, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleChoice {
    /// Looks.
    Viewer,
    /// Answers interrupts.
    Reviewer,
    /// Directs agents too.
    Supervisor,
    /// Runs the installation.
    Admin,
    /// Is an agent of a run, named by --run or --agent: asks for interrupts there, never decides.
    Agent,
    /// Executes the runs of one workflow, which --workflow names, and never decides.
    Worker,
}

impl RoleChoice {
    /// The role.
    pub(crate) const fn role(self) -> Role {
        match self {
            Self::Viewer => Role::Observer,
            Self::Reviewer => Role::Reviewer,
            Self::Supervisor => Role::Supervisor,
            Self::Admin => Role::Operator,
            Self::Agent => Role::Requester,
            Self::Worker => Role::Worker,
        }
    }
}

/// The arguments of `irq doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// The file that names MCP servers: each is started or reached, and its tools are listed
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp: Option<PathBuf>,
    /// A model to try: whether it is reached, keeps to a schema, and ends when it is told to
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Where that model's API is, for servers of your own
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) base_url: Option<String>,
    /// Keep the profile of that model in the file of settings, under this name
    #[arg(long, value_name = "NAME", requires = "model", num_args = 0..=1, default_missing_value = "local")]
    pub(crate) write: Option<String>,
    /// One finding a line, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
