//! The command line.

mod acting;
mod asking;
mod planning;
mod serving;
mod stored;

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};
use interrupt_router::model::Dialect;
use interrupts::{Label, RouteName};
use journal::Workflow;

use crate::exit::Exit;
use crate::number::{parse_count, parse_number};
use crate::program::described;
use crate::settings::Settings;
use crate::size::parse_size;
use crate::time::{Grace, parse_duration, parse_grace};
use crate::workflows;
use crate::workflows::{parse_built_in_kind, parse_built_in_route};
use interrupts::nearest;

pub(crate) use acting::{
    InterruptArguments, PolicyArguments, PolicyCheckArguments, PolicyCommand,
    PolicyExplainArguments, RedriveArguments, RerouteArguments, ReviewArguments, RulesArguments,
    RulesCommand, RulesListArguments, RulesRevokeArguments, ScopeChoice, SendArguments,
    WithdrawArguments, parse_verdict,
};
pub(crate) use asking::{
    HookArguments, HookCommand, HookInstallArguments, HookRemoveArguments, McpArguments,
    McpLoginArguments,
};
pub(crate) use stored::{
    CheckpointsArguments, CompletionsArguments, ConfigArguments, ConfigCommand,
    ConfigShowArguments, HistoryArguments, HistoryFormat, ManArguments, PsArguments,
    PurgeArguments, ReplayArguments, StatsArguments, StoreArguments, WatchArguments,
};

pub(crate) use planning::PlanArguments;
#[cfg(feature = "postgres")]
pub(crate) use serving::StoreCopyArguments;
pub(crate) use serving::{
    DoctorArguments, ExecutingArguments, LOCAL_BUS, NewRunArguments, RoleChoice, ServeArguments,
    StoreCommand, TokenArguments, TokenCommand, TokenCreateArguments, TokenListArguments,
    TokenRevokeArguments, WholeStoreArguments, WorkerArguments,
};

/// Runs multi-agent workflows whose interrupts can only go where they are allowed to.
#[derive(Debug, Parser)]
#[command(name = "irq", version, max_term_width = 100, after_help = after_help(), subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) global: Global,
    /// Which store.
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Write what is sent to models' servers, and what they answer, into this file; keys are blanked, what was asked and
    /// answered is not
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub(crate) debug_http: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The command line, with the variables that say the same as its options, and nothing that files say.
pub(crate) fn command_line() -> clap::Command {
    Settings::default().applied(described())
}

/// What holds for every command.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Global {
    /// Show only questions, errors and the result
    #[arg(
        short,
        long,
        global = true,
        help_heading = "Everywhere",
        conflicts_with = "verbose"
    )]
    pub(crate) quiet: bool,
    /// Show more: each change of state, each correction, what was answered
    #[arg(short, long, global = true, help_heading = "Everywhere", action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Without colours (as NO_COLOR does)
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) no_color: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the workflow on a folder until its work is done
    Run(RunArguments),
    /// Go on with a run that is paused, waits, or lost its process
    Resume(ResumeArguments),
    /// Begin another run from a checkpoint of this one
    Fork(ForkArguments),
    /// Talk with a model; Ctrl+C or Esc interrupts its answer
    Chat(ChatArguments),
    /// Serve the page and the interface, and execute runs, until it gets SIGTERM or Ctrl+C
    Serve(ServeArguments),
    /// Execute the runs that servers on the same store leave to workers, until it gets SIGTERM or Ctrl+C
    Worker(WorkerArguments),
    /// Let an MCP client ask people: an MCP server, which a client starts
    Mcp(McpArguments),
    /// Log in to an MCP server whose tools agents use
    McpLogin(McpLoginArguments),
    /// Let a coding agent ask people for permission, instead of its own terminal
    Hook(HookArguments),
    /// Copy the store to another place
    Store(WholeStoreArguments),
    /// Make, list and revoke the tokens that let people and programs into a server
    Token(TokenArguments),
    /// List runs and their agents, of all processes
    Ps(PsArguments),
    /// Watch all runs, answer questions and interrupt agents, on a whole terminal
    Watch(WatchArguments),
    /// Stop, pause or question a running agent, or a whole run
    Interrupt(InterruptArguments),
    /// List what waits for a person, show it, decide it
    Review(ReviewArguments),
    /// List and revoke standing rules: decisions that were remembered
    Rules(RulesArguments),
    /// Send an agent's answer elsewhere
    Reroute(RerouteArguments),
    /// Write to a running agent; it reads at the start of its next turn
    Send(SendArguments),
    /// Give up an interrupt that is not wanted any more
    Withdraw(WithdrawArguments),
    /// Try an interrupt again that could not be delivered
    Redrive(RedriveArguments),
    /// Show the plan of a run; change it while the run is paused
    Plan(PlanArguments),
    /// List where a run can go on from
    Checkpoints(CheckpointsArguments),
    /// Tell step by step what happened in a run, without running anything
    Replay(ReplayArguments),
    /// Print the audit, or verify it
    History(HistoryArguments),
    /// Count interrupts: how many, how long they waited, how they ended
    Stats(StatsArguments),
    /// Forget runs that ended long ago
    Purge(PurgeArguments),
    /// Check a policy file, or explain what it says of an interrupt
    Policy(PolicyArguments),
    /// Print a schema as a model would get it
    Schema(SchemaArguments),
    /// Print where each agent's interrupt may go
    Routes(RoutesArguments),
    /// Say what is wrong with this installation, and how to fix it
    Doctor(DoctorArguments),
    /// Show the settings that hold
    Config(ConfigArguments),
    /// Print a script that completes commands in a shell
    Completions(CompletionsArguments),
    /// Print a manual page
    Man(ManArguments),
}

/// The arguments of `irq run`.
///
/// Progress and questions go to standard error, the result to standard output.
#[derive(Debug, Args)]
#[command(after_help = run_after_help())]
pub(crate) struct RunArguments {
    /// What shall be done, or the input of a workflow of one's own as JSON; `-`, or nothing where standard input is no
    /// terminal, reads it from there
    pub(crate) goal: Option<String>,
    /// What is executed: the agents of discovery, planning and tickets, or a plan that is made, carried out step
    /// by step, and changed on the way
    #[arg(
        long,
        value_name = "NAME",
        default_value_t = workflows::usual(),
        value_parser = workflows::parse_workflow,
        help_heading = "The work"
    )]
    pub(crate) workflow: Workflow,
    /// The folder that the run speaks about; it is only read. What agents work on is --tools DIR
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        help_heading = "The work"
    )]
    pub(crate) workspace: PathBuf,
    /// `rehearsal`, which needs neither key nor network, or PROVIDER:NAME, whose key is read from
    /// the provider's usual environment variable [default: rehearsal; on a server, the server's]
    #[arg(long, value_name = "MODEL", help_heading = "The model")]
    pub(crate) model: Option<String>,
    /// Where the provider's API is, for servers of your own: http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", help_heading = "The model")]
    pub(crate) base_url: Option<String>,
    /// Who raises which interrupt when, who answers what, when a supervisor speaks: a JSON file
    #[arg(long, value_name = "FILE", help_heading = "The rehearsal")]
    pub(crate) script: Option<PathBuf>,
    /// What the rehearsal's choices start from
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        value_parser = parse_number::<u64>,
        help_heading = "The rehearsal"
    )]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) tools: ToolArguments,
    #[command(flatten)]
    pub(crate) talk: TalkArguments,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    /// Only start it on the server, and print its id
    #[arg(long, help_heading = "Talking")]
    pub(crate) detach: bool,
    /// What a worker must have to execute it, where the server leaves runs to workers: gpu; several times for several
    #[arg(long, value_name = "LABEL", help_heading = "The work")]
    pub(crate) needs: Vec<Label>,
    /// How often a model may correct an answer that does not fit, before a person is asked
    #[arg(long, value_name = "NUMBER", help_heading = "Limits", value_parser = parse_number::<u32>)]
    pub(crate) corrections: Option<u32>,
}

/// What agents may use.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ToolArguments {
    /// Give the agents tools: they read, search and change files of this folder, and run programs in it. What is not
    /// harmless is asked about first
    #[arg(long, value_name = "DIR", help_heading = "Tools")]
    pub(crate) tools: Option<PathBuf>,
    /// Which calls are allowed, denied or asked about, and which agents have which tools: a TOML file
    #[arg(long, value_name = "FILE", requires = "tools", help_heading = "Tools")]
    pub(crate) permissions: Option<PathBuf>,
    /// Servers of the Model Context Protocol whose tools they have too: a TOML file
    #[arg(long, value_name = "FILE", requires = "tools", help_heading = "Tools")]
    pub(crate) mcp: Option<PathBuf>,
}

/// How a run in the foreground talks.
#[derive(Debug, Args)]
pub(crate) struct TalkArguments {
    /// How fast the rehearsal speaks; 0 is as fast as it goes [default: 400 on a terminal, else 0]
    #[arg(long, value_name = "TOKENS_PER_SECOND", help_heading = "The rehearsal", value_parser = parse_number::<u32>)]
    pub(crate) pace: Option<u32>,
    /// Ask no questions: one ends the run with exit code 5 and its interrupt's id on standard output
    #[arg(long, help_heading = "Talking")]
    pub(crate) no_input: bool,
    /// One CloudEvent a line on standard output, nothing else there
    #[arg(long, help_heading = "Talking")]
    pub(crate) json: bool,
}

/// How far a run may go.
#[derive(Debug, Args)]
pub(crate) struct LimitArguments {
    /// How many steps the run may take in all, in whatever processes
    #[arg(long, value_name = "NUMBER", help_heading = "Limits", value_parser = parse_count)]
    pub(crate) max_steps: Option<NonZeroU32>,
    /// How long processes may work on the run in all before it is paused: 90s, 15m, 2h; while no process executes it,
    /// no time passes
    #[arg(long, value_name = "TIME", help_heading = "Limits", value_parser = parse_duration)]
    pub(crate) timeout: Option<jiff::SignedDuration>,
    #[command(flatten)]
    pub(crate) budget: BudgetArguments,
    /// How much memory this process may hold before the run is paused: 512MiB, 2GiB. It is irq's own, looked at
    /// twice a second; that of tools, and of a model's server, is not in it
    #[arg(long, value_name = "SIZE", help_heading = "Limits", value_parser = parse_size)]
    pub(crate) max_memory: Option<u64>,
    /// How much processor time this process may use before the run is paused: 90s, 15m. It is irq's own, of all
    /// processors together, from the beginning of this command: a resume counts anew
    #[arg(long, value_name = "TIME", help_heading = "Limits", value_parser = parse_duration)]
    pub(crate) max_cpu_time: Option<jiff::SignedDuration>,
    /// How long a graceful stop may take before it is immediate, or `none` [default: the policy's grace, else 5s after
    /// a signal and 2s after Esc]
    #[arg(long, value_name = "TIME", help_heading = "Limits", value_parser = parse_grace)]
    pub(crate) grace: Option<Grace>,
    /// How its interrupts are treated: a TOML file
    #[arg(long, value_name = "FILE", help_heading = "Limits")]
    pub(crate) policy: Option<PathBuf>,
}

/// What may be spent.
#[derive(Debug, Args)]
pub(crate) struct BudgetArguments {
    /// How much models may cost in all before no further call is made, in dollars: 0.50
    #[arg(long, value_name = "AMOUNT", help_heading = "Limits")]
    pub(crate) budget_usd: Option<String>,
    /// What models cost: a TOML file
    #[arg(long, value_name = "FILE", help_heading = "Limits")]
    pub(crate) prices: Option<PathBuf>,
}

/// The arguments of `irq resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The run; the beginning of its id is enough where no other one begins so
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// New input for the agent that has the turn
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Accept an incompatible version of the run's workflow: open questions with changed schemas are asked again
    #[arg(long)]
    pub(crate) accept_catalogue: bool,
    /// Only let it go on on the server, and print its id
    #[arg(long, help_heading = "Talking")]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArguments,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
}

/// The arguments of `irq fork`.
#[derive(Debug, Args)]
pub(crate) struct ForkArguments {
    /// The run that the new one begins from
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The number of the checkpoint [default: the last one]
    #[arg(long, value_name = "NUMBER", value_parser = parse_number::<u64>)]
    pub(crate) at: Option<u64>,
    /// New input for the agent that has the turn
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Go on without answers, messages and reroutes that its run has not carried out
    #[arg(long)]
    pub(crate) drop_pending: bool,
    /// Only let it go on on the server, and print its id
    #[arg(long, help_heading = "Talking")]
    pub(crate) detach: bool,
    #[command(flatten)]
    pub(crate) talk: TalkArguments,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
}

/// The arguments of `irq chat`.
#[derive(Debug, Args)]
#[command(after_help = chat_after_help())]
pub(crate) struct ChatArguments {
    /// `rehearsal`, which needs neither key nor network, or PROVIDER:NAME
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "rehearsal",
        help_heading = "The model"
    )]
    pub(crate) model: String,
    /// Where the provider's API is, for servers of your own: http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", help_heading = "The model")]
    pub(crate) base_url: Option<String>,
    /// Have answers made in the background, where an interrupt cancels them by request (openai_resp:NAME)
    #[arg(long, help_heading = "The model")]
    pub(crate) background: bool,
    /// Instructions that come before the conversation
    #[arg(long, value_name = "TEXT", help_heading = "The model")]
    pub(crate) system: Option<String>,
    /// Offer the model tools for this folder: to read, search and edit its files and to run programs in it
    #[arg(long, value_name = "DIR", help_heading = "Tools")]
    pub(crate) tools: Option<PathBuf>,
    /// What tools may do, as TOML; without it reading is allowed, and you are asked about everything else
    #[arg(long, value_name = "FILE", requires = "tools", help_heading = "Tools")]
    pub(crate) permissions: Option<PathBuf>,
    /// Servers of the Model Context Protocol whose tools it is offered too: a TOML file
    #[arg(long, value_name = "FILE", requires = "tools", help_heading = "Tools")]
    pub(crate) mcp: Option<PathBuf>,
    /// What the rehearsal's words start from
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        value_parser = parse_number::<u64>,
        help_heading = "The rehearsal"
    )]
    pub(crate) seed: u64,
    /// How fast the rehearsal speaks; 0 is as fast as it goes [default: 40 on a terminal, else 0]
    #[arg(long, value_name = "TOKENS_PER_SECOND", help_heading = "The rehearsal", value_parser = parse_number::<u32>)]
    pub(crate) pace: Option<u32>,
    #[command(flatten)]
    pub(crate) budget: BudgetArguments,
    /// Take each line of standard input as a message, on a terminal too
    #[arg(long, help_heading = "Talking")]
    pub(crate) no_input: bool,
    /// One JSON event a line on standard output, nothing else there; messages are lines of standard input
    #[arg(long, help_heading = "Talking")]
    pub(crate) json: bool,
}

/// The arguments of `irq schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// The routing record; the one that answers interrupts where none is named
    pub(crate) record: Option<String>,
    /// Narrowed for the interrupt of this agent: it leads back to where it came from
    #[arg(long, value_name = "AGENT_TYPE", value_parser = parse_built_in_kind)]
    pub(crate) origin: Option<RouteName>,
    /// Narrowed for an interrupt that a supervisor sends here
    #[arg(long, value_name = "AGENT_TYPE", value_parser = parse_built_in_route)]
    pub(crate) reroute_to: Option<RouteName>,
    /// With only the way back to this caller, for agents that go back to their caller
    #[arg(long, value_name = "AGENT_TYPE", value_parser = parse_built_in_route)]
    pub(crate) caller: Option<RouteName>,
    /// In the form that this provider takes: json-schema, openai, anthropic, gemini or grammar
    #[arg(long, value_name = "DIALECT", default_value = "json-schema", value_parser = parse_dialect)]
    pub(crate) dialect: Dialect,
    /// How a turn with this record is asked: with --model as that model is asked, else in both forms
    #[arg(long, conflicts_with_all = ["origin", "reroute_to", "list"])]
    pub(crate) turn: bool,
    /// The model whose turns are shown
    #[arg(
        long,
        value_name = "MODEL",
        requires = "turn",
        conflicts_with = "dialect"
    )]
    pub(crate) model: Option<String>,
    /// Where that model's API is, for servers of your own
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) base_url: Option<String>,
    /// The names of the records, one a line
    #[arg(long, conflicts_with_all = ["record", "origin", "reroute_to", "caller", "dialect"])]
    pub(crate) list: bool,
    /// What a server tells and takes over NATS, by AsyncAPI 3.0
    #[arg(long, conflicts_with_all = ["record", "origin", "reroute_to", "caller", "dialect", "turn", "list"])]
    pub(crate) asyncapi: bool,
    /// On one line; of --list, each name as a JSON string
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq routes`.
#[derive(Debug, Args)]
pub(crate) struct RoutesArguments {
    /// As a Mermaid graph
    #[arg(long, conflicts_with = "json")]
    pub(crate) mermaid: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_dialect(text: &str) -> Result<Dialect, String> {
    Dialect::ALL
        .into_iter()
        .find(|dialect| dialect.name() == text)
        .ok_or_else(|| {
            let names = Dialect::ALL.map(Dialect::name);
            let near = nearest(text, names.iter().copied())
                .map(|near| format!("did you mean {near}? "))
                .unwrap_or_default();
            format!("{near}known are: {}", names.join(", "))
        })
}

fn after_help() -> String {
    format!(
        "Exit codes:\n{}\nStart with:\n  irq run \"Describe this project\" --workspace .\n",
        Exit::table()
    )
}

fn run_after_help() -> String {
    format!(
        "Progress and questions go to standard error, the result to standard output.\n\n\
         Ctrl+C lets the current steps finish, a second one stops at once, a third leaves without \
         clean-up.\n\nExit codes:\n{}",
        Exit::table()
    )
}

fn chat_after_help() -> String {
    format!(
        "On a terminal, Ctrl+C or Esc interrupts an answer at once: the connection is closed, and what \
         had arrived is kept and marked. What is typed meanwhile stays. /help lists the commands.\n\n\
         With --tools the model may work in a folder. Ctrl+C stops whatever runs, with every process that \
         it started. Without a terminal nobody can be asked, and what needs permission is denied.\n\n\
         Otherwise each line of standard input is a message, and the answers go to standard output.\n\n\
         Exit codes:\n{}",
        Exit::table()
    )
}

#[cfg(test)]
mod tests {
    use super::{command_line, parse_dialect};

    #[test]
    fn the_command_line_is_consistent() {
        command_line().debug_assert();
    }

    #[test]
    fn a_misspelt_dialect_is_explained() {
        let error = parse_dialect("open-ai").unwrap_err();
        assert!(error.contains("did you mean openai?"), "{error}");
    }
}
