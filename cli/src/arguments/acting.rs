//! The arguments of commands that act on runs of other processes.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use interrupt_router::{InterruptType, StopMode};
use interrupts::RouteName;
use interrupts::life::{Scope, State, Verdict};
use interrupts::rules::Reach;
use jiff::SignedDuration;

use crate::number::parse_number;
use crate::reviewer::yes_or_no;
use crate::time::parse_duration;
use crate::workflows::parse_route;
use interrupts::nearest;

/// The arguments of `irq review`.
#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    /// The interrupt; without it all that wait for a person are listed
    #[arg(value_name = "INTERRUPT")]
    pub(crate) interrupt: Option<String>,
    /// The one that goes first: people's own, then agents', then the system's; the oldest of them
    #[arg(long, conflicts_with_all = ["interrupt", "batch"])]
    pub(crate) next: bool,
    /// Decide: approve, edit, reject, respond, ignore, reroute, modify_plan, cancel or resume
    #[arg(long, value_name = "DECISION", value_parser = parse_verdict, help_heading = "Deciding")]
    pub(crate) decision: Option<Verdict>,
    /// The answer as JSON: the text itself, @FILE, or - for standard input
    #[arg(
        long,
        value_name = "JSON",
        requires = "decision",
        help_heading = "Deciding"
    )]
    pub(crate) payload: Option<String>,
    /// The answer in words
    #[arg(
        long,
        value_name = "TEXT",
        requires = "decision",
        help_heading = "Deciding"
    )]
    pub(crate) message: Option<String>,
    /// Choose this of what is offered, by its value; may be given more than once
    #[arg(
        long,
        value_name = "VALUE",
        requires = "decision",
        conflicts_with = "payload",
        help_heading = "Deciding"
    )]
    pub(crate) choose: Vec<String>,
    /// Say yes or no to something that must be confirmed; may be given more than once
    #[arg(
        long,
        value_name = "ID=yes|no",
        value_parser = parse_confirmation,
        requires = "decision",
        conflicts_with = "payload",
        help_heading = "Deciding"
    )]
    pub(crate) confirm: Vec<(String, bool)>,
    /// Where to, with --decision reroute
    #[arg(long, value_name = "AGENT_TYPE", value_parser = parse_route, requires = "decision", help_heading = "Deciding")]
    pub(crate) to: Option<RouteName>,
    /// Write the target's request in $VISUAL or $EDITOR, and decide so
    #[arg(long, conflicts_with_all = ["decision", "batch"], help_heading = "Deciding")]
    pub(crate) edit: bool,
    /// Only where the interrupt still has this version
    #[arg(long, value_name = "VERSION", help_heading = "Deciding", value_parser = parse_number::<u64>)]
    pub(crate) if_version: Option<u64>,
    /// Decide many: one JSON object a line, with interrupt, decision, and what else is wanted
    #[arg(long, value_name = "FILE", conflicts_with_all = ["interrupt", "decision", "run"], help_heading = "Deciding")]
    pub(crate) batch: Option<PathBuf>,
    /// With --batch: all lines in one transaction, or none
    #[arg(long, requires = "batch", conflicts_with_all = ["interrupt", "next", "decision", "edit"], help_heading = "Deciding")]
    pub(crate) all_or_nothing: bool,
    /// Answer the same question so when it is asked again: of this agent, in its run, or everywhere
    #[arg(
        long,
        value_enum,
        value_name = "REACH",
        requires = "decision",
        help_heading = "Deciding"
    )]
    pub(crate) remember: Option<ReachChoice>,
    /// How long it is remembered, at most 30d
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse_duration, help_heading = "Deciding")]
    pub(crate) remember_for: SignedDuration,
    /// How often it may answer, at most 1000 times
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10,
        value_parser = parse_number::<u32>,
        help_heading = "Deciding"
    )]
    pub(crate) remember_uses: u32,
    /// Of this run only
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Ask nothing: show what is asked
    #[arg(long)]
    pub(crate) no_input: bool,
    /// As JSON; a list has one interrupt a line
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_confirmation(text: &str) -> Result<(String, bool), String> {
    let (id, said) = text.rsplit_once('=').unwrap_or((text, ""));
    match yes_or_no(said) {
        Some(said) if !id.is_empty() => Ok((id.to_owned(), said)),
        Some(_) | None => Err("write ID=yes or ID=no".to_owned()),
    }
}

/// How far a standing rule reaches, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReachChoice {
    /// The agent that asked, in its run.
    Agent,
    /// Agents of that kind in the same run.
    Run,
    /// Agents of that kind in every run.
    Everywhere,
}

impl ReachChoice {
    /// The reach.
    pub(crate) const fn reach(self) -> Reach {
        match self {
            Self::Agent => Reach::Agent,
            Self::Run => Reach::Run,
            Self::Everywhere => Reach::Everywhere,
        }
    }
}

/// The arguments of `irq rules`.
#[derive(Debug, Args)]
pub(crate) struct RulesArguments {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: RulesCommand,
}

/// What `irq rules` does.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// List the rules, oldest first
    List(RulesListArguments),
    /// Revoke a rule; what it decided stays decided
    Revoke(RulesRevokeArguments),
}

/// The arguments of `irq rules list`.
#[derive(Debug, Args)]
pub(crate) struct RulesListArguments {
    /// Those that have ended too
    #[arg(short, long)]
    pub(crate) all: bool,
    /// One rule a line, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq rules revoke`.
#[derive(Debug, Args)]
pub(crate) struct RulesRevokeArguments {
    /// The rule; `irq rules list` shows its id
    #[arg(value_name = "RULE")]
    pub(crate) rule: String,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq reroute`.
#[derive(Debug, Args)]
pub(crate) struct RerouteArguments {
    /// An agent, which is asked to interrupt itself, or an interrupt, which is decided
    #[arg(value_name = "AGENT|INTERRUPT")]
    pub(crate) address: String,
    /// Where the answer goes
    #[arg(long, value_name = "AGENT_TYPE", value_parser = parse_route)]
    pub(crate) to: RouteName,
    /// Who answers the agent's interrupt: HUMAN_REVIEW or AGENT_REVIEW
    #[arg(long = "type", value_name = "TYPE", default_value = "HUMAN_REVIEW", value_parser = parse_question_type)]
    pub(crate) interrupt_type: InterruptType,
    /// Why, in words for the agent and for people
    #[arg(long, value_name = "TEXT", default_value = "a supervisor asks for it")]
    pub(crate) reason: String,
    /// The event's id: the same one again is the same event
    #[arg(long, value_name = "ID")]
    pub(crate) event_id: Option<String>,
    /// Of an interrupt: only where it still has this version
    #[arg(long, value_name = "VERSION", value_parser = parse_number::<u64>)]
    pub(crate) if_version: Option<u64>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// How far a stop reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeChoice {
    /// The agent and all that it started.
    Agent,
    /// The whole run.
    Run,
}

impl From<ScopeChoice> for Scope {
    fn from(choice: ScopeChoice) -> Self {
        match choice {
            ScopeChoice::Agent => Self::Agent,
            ScopeChoice::Run => Self::Run,
        }
    }
}

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeChoice {
    /// The current step finishes.
    Graceful,
    /// At once.
    Immediate,
}

impl From<ModeChoice> for StopMode {
    fn from(choice: ModeChoice) -> Self {
        match choice {
            ModeChoice::Graceful => Self::Graceful,
            ModeChoice::Immediate => Self::Immediate,
        }
    }
}

/// The arguments of `irq interrupt`.
#[derive(Debug, Args)]
pub(crate) struct InterruptArguments {
    /// A run, or an agent: RUN/AGENT, or the agent alone where one live run has it
    #[arg(
        value_name = "RUN|AGENT",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub(crate) address: Option<String>,
    /// Every live run
    #[arg(long)]
    pub(crate) all: bool,
    /// PAUSE, STOP, PRUNE or BRANCH; HUMAN_REVIEW or AGENT_REVIEW ask the agent to raise a question
    #[arg(long = "type", value_name = "TYPE", default_value = "PAUSE", value_parser = parse_interrupt_type)]
    pub(crate) interrupt_type: InterruptType,
    /// How to stop [default: graceful]
    #[arg(long, value_enum, value_name = "MODE", default_value_t = ModeChoice::Graceful, hide_default_value = true)]
    pub(crate) mode: ModeChoice,
    /// How far it reaches [default: what the address names]
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub(crate) scope: Option<ScopeChoice>,
    /// Why, in words
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "asked for from another terminal"
    )]
    pub(crate) reason: String,
    /// Wait until it has this state: acknowledged, which is when its agent has stopped, or another one
    #[arg(long, value_name = "STATE", num_args = 0..=1, require_equals = true, default_missing_value = "acknowledged", value_parser = parse_state)]
    pub(crate) wait: Option<State>,
    /// The longest wait: 30s, 5m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub(crate) timeout: SignedDuration,
    /// Only say who would be affected
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do it without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// One interrupt a line, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq send`.
#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    /// The agent: RUN/AGENT, or the agent alone where one live run has it
    pub(crate) agent: String,
    /// What it shall read at the start of its next turn; - reads it from standard input
    #[arg(required_unless_present_any = ["waiting", "take_back"])]
    pub(crate) text: Option<String>,
    /// List what it has not read yet, with the number of each message
    #[arg(long, conflicts_with_all = ["text", "key", "take_back"])]
    pub(crate) waiting: bool,
    /// Take the message of this number back, which it has not read yet
    #[arg(long, value_name = "MESSAGE", conflicts_with_all = ["text", "key"], value_parser = parse_number::<u64>)]
    pub(crate) take_back: Option<u64>,
    /// The same key with the same text is the same message
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq withdraw`.
#[derive(Debug, Args)]
pub(crate) struct WithdrawArguments {
    /// The interrupt, or of a stop one of those who ask for it: ID.2
    pub(crate) interrupt: String,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq redrive`.
#[derive(Debug, Args)]
pub(crate) struct RedriveArguments {
    /// The interrupt
    pub(crate) interrupt: String,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq policy`.
#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

/// What `irq policy` does.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Check a policy file
    Check(PolicyCheckArguments),
    /// Say which rules hold for an interrupt, and why others do not
    Explain(PolicyExplainArguments),
}

/// The arguments of `irq policy check`.
#[derive(Debug, Args)]
pub(crate) struct PolicyCheckArguments {
    /// The file
    pub(crate) file: PathBuf,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `irq policy explain`.
#[derive(Debug, Args)]
pub(crate) struct PolicyExplainArguments {
    /// The interrupt
    pub(crate) interrupt: String,
    /// The policy file; without it the policy that is built in
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a verdict by its name on the wire, with `-` for `_`.
pub(crate) fn parse_verdict(text: &str) -> Result<Verdict, String> {
    let name = text.to_lowercase().replace('-', "_");
    let known: Vec<&str> = Verdict::ALL
        .into_iter()
        // Only a policy says that a stop was carried out.
        .filter(|verdict| *verdict != Verdict::Applied)
        .map(Verdict::name)
        .collect();
    Verdict::ALL
        .into_iter()
        .filter(|verdict| *verdict != Verdict::Applied)
        .find(|verdict| verdict.name() == name)
        .ok_or_else(|| unknown("decision", text, &name, &known))
}

fn parse_interrupt_type(text: &str) -> Result<InterruptType, String> {
    let name = text.to_uppercase().replace('-', "_");
    let known = InterruptType::ALL.map(InterruptType::name);
    name.parse()
        .map_err(|_unknown| unknown("interrupt type", text, &name, &known))
}

fn parse_question_type(text: &str) -> Result<InterruptType, String> {
    let name = text.to_uppercase().replace('-', "_");
    let known = [InterruptType::HumanReview, InterruptType::AgentReview];
    known
        .into_iter()
        .find(|known| known.name() == name)
        .ok_or_else(|| {
            unknown(
                "question type",
                text,
                &name,
                &known.map(InterruptType::name),
            )
        })
}

fn parse_state(text: &str) -> Result<State, String> {
    let name = text.to_lowercase().replace('-', "_");
    let known = State::ALL.map(State::name);
    name.parse()
        .map_err(|_unknown| unknown("state", text, &name, &known))
}

fn unknown(what: &str, text: &str, name: &str, known: &[&str]) -> String {
    let near = nearest(name, known.iter().copied())
        .map(|near| format!("; did you mean {near}?"))
        .unwrap_or_default();
    format!(
        "no {what} `{text}`{near}\n  known are: {}",
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use interrupts::life::Verdict;

    use super::{parse_interrupt_type, parse_state, parse_verdict};

    #[test]
    fn every_verdict_that_people_may_give_reads_back_from_its_name() {
        for verdict in Verdict::ALL {
            let read = parse_verdict(verdict.name());
            assert_eq!(read.is_ok(), verdict != Verdict::Applied, "{verdict:?}");
            let json = serde_json::to_value(verdict).unwrap();
            assert_eq!(json, verdict.name());
        }
        assert_eq!(parse_verdict("MODIFY-PLAN"), Ok(Verdict::ModifyPlan));
    }

    #[test]
    fn a_slip_is_explained() {
        let error = parse_verdict("aprove").unwrap_err();
        assert!(error.contains("did you mean approve?"), "{error}");
        let error = parse_interrupt_type("pauze").unwrap_err();
        assert!(error.contains("did you mean PAUSE?"), "{error}");
        let error = parse_state("aknowledged").unwrap_err();
        assert!(error.contains("did you mean acknowledged?"), "{error}");
    }
}
