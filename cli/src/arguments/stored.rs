//! The arguments of commands that look at what the store keeps.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::{SignedDuration, Timestamp};

use crate::number::parse_number;
use crate::time::{parse_duration, parse_since};

/// Which store.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArguments {
    /// Where runs and interrupts are kept: a path, sqlite:PATH, or postgres://USER@HOST/DATABASE [default: a file in the state folder]
    #[arg(long, value_name = "URL", global = true, help_heading = "Everywhere")]
    pub(crate) store: Option<String>,
    /// Work through this server instead: http://127.0.0.1:7070
    #[arg(long, value_name = "URL", global = true, help_heading = "Everywhere")]
    pub(crate) server: Option<String>,
    /// The file with the token for that server; `irq token create` makes one
    #[arg(long, value_name = "FILE", global = true, help_heading = "Everywhere")]
    pub(crate) token_file: Option<PathBuf>,
    /// Certificates of authorities to trust beside the system's, as PEM: for a server of --server, or a model of `irq chat`, of your own
    #[arg(long, value_name = "FILE", global = true, help_heading = "Everywhere")]
    pub(crate) ca_certificate: Option<PathBuf>,
}

/// The arguments of `irq ps`.
#[derive(Debug, Args)]
pub(crate) struct PsArguments {
    /// Ended runs and agents too
    #[arg(short, long)]
    pub(crate) all: bool,
    /// One run a line, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Only this run, whatever its state
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
}

/// The arguments of `irq watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// Begin with what waits for a person
    #[arg(long)]
    pub(crate) inbox: bool,
    /// Without the terminal's bell when a question comes up
    #[arg(long)]
    pub(crate) silent: bool,
    /// Without screens: one line for each event of a server, for screen readers and logs
    #[arg(long, conflicts_with = "inbox", help_heading = "Lines")]
    pub(crate) plain: bool,
    /// Without screens: each event of a server as a CloudEvent, one a line
    #[arg(long, conflicts_with_all = ["inbox", "plain"], help_heading = "Lines")]
    pub(crate) json: bool,
    /// Lines of this run only, until it has ended
    #[arg(long, value_name = "RUN", help_heading = "Lines")]
    pub(crate) run: Option<String>,
    /// Lines after this position of the feed: an event's `sequence`; 0 is the beginning [default: from now on]
    #[arg(long, value_name = "SEQUENCE", help_heading = "Lines", value_parser = parse_number::<u64>)]
    pub(crate) after: Option<u64>,
}

/// The form of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryFormat {
    /// Columns, for people.
    Table,
    /// One JSON array.
    Json,
    /// One JSON object a line.
    Ndjson,
    /// Comma-separated values with a header.
    Csv,
}

/// The arguments of `irq history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Only this run
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Only this interrupt
    #[arg(long, value_name = "INTERRUPT")]
    pub(crate) interrupt: Option<String>,
    /// Only what happened since: a time (2026-11-22T09:00:00Z) or an age (2h, 7d)
    #[arg(long, value_name = "WHEN", value_parser = parse_since)]
    pub(crate) since: Option<Timestamp>,
    /// Only what this person or program did
    #[arg(long, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// The form of the list
    #[arg(long, value_enum, default_value_t = HistoryFormat::Table)]
    pub(crate) format: HistoryFormat,
    /// As --format ndjson
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Compare the whole audit with itself, and all that it vouches for with it
    #[arg(long, conflicts_with_all = ["run", "interrupt", "since", "actor", "format"])]
    pub(crate) verify: bool,
    /// Verify, and print the head of the audit as JSON, to be signed and kept elsewhere
    #[arg(long, conflicts_with_all = ["run", "interrupt", "since", "actor", "format"])]
    pub(crate) head: bool,
    /// Verify, and check that the audit goes on from this head
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "interrupt", "since", "actor", "format"])]
    pub(crate) against: Option<PathBuf>,
}

/// The arguments of `irq stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// Only this run
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Only interrupts that were requested since: a time or an age (2h, 7d)
    #[arg(long, value_name = "WHEN", value_parser = parse_since)]
    pub(crate) since: Option<Timestamp>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The run
    pub(crate) run: String,
    /// Only this agent and those below it
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// How far it has come and what it has used, instead of every moment
    #[arg(long, conflicts_with = "agent")]
    pub(crate) summary: bool,
    /// One moment a line, as JSON, with all that was recorded
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq checkpoints`.
#[derive(Debug, Args)]
pub(crate) struct CheckpointsArguments {
    /// The run
    pub(crate) run: String,
    /// One checkpoint a line, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq purge`.
#[derive(Debug, Args)]
pub(crate) struct PurgeArguments {
    /// How long ago a run must have ended: 30d, 12h
    #[arg(long, value_name = "AGE", value_parser = parse_duration)]
    pub(crate) older_than: SignedDuration,
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do it without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// The arguments of `irq man`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Of this command; the program's own page where it is left out
    pub(crate) command: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}

/// The arguments of `irq config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What `irq config` does.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the settings that hold
    Show(ConfigShowArguments),
    /// Have the file irq.toml of this folder count, as it is now: it may name another store, other policies, programs to start
    Trust,
}

/// The arguments of `irq config show`.
#[derive(Debug, Args)]
pub(crate) struct ConfigShowArguments {
    /// Say where each comes from
    #[arg(long)]
    pub(crate) origin: bool,
    /// One setting a line, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
