//! `irq hook`: a permission question of a coding agent becomes a question here, and its decision the agent's.
//!
//! An error is a refusal, never an allowance: the agent reads "deny" or, if even that cannot be written, the exit code
//! with which it blocks.

mod asking;
mod event;
mod installing;
mod json_text;
mod plugin;
mod settings;

use std::io::Read as _;

use clap::ValueEnum;
use jiff::SignedDuration;

use crate::arguments::StoreArguments;
use crate::backend::Whereabouts;
use crate::exit::{Exit, Failure};
use event::{HookAnswer, HookEvent};

pub(crate) use event::EventName;
pub(crate) use installing::{Change, HookSpec, Scope};

/// The most bytes that an agent may send.
const MOST_INPUT: u64 = 4 << 20;

/// A coding agent that can be made to ask here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CodingAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// opencode.
    Opencode,
}

impl CodingAgent {
    /// As the command line and its workflow name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
        }
    }

    /// As people call it.
    const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Opencode => "opencode",
        }
    }
}

/// Refuses a server: the question is put into the store, where other commands and servers find it.
///
/// # Errors
///
/// [`Exit::Usage`] with what to do instead.
pub(crate) fn demand_store(store: &StoreArguments) -> Result<(), Failure> {
    let instead = "use it beside the server's store, with --store PATH";
    Whereabouts::demand_store(store, "hook", instead)
}

/// Reads the event of an agent from standard input, asks a person, and returns what to print.
///
/// # Errors
///
/// [`Exit::Usage`], whose exit code 2 blocks the agent's tool, if the event cannot be read.
pub(crate) fn answer(
    agent: CodingAgent,
    timeout: SignedDuration,
    store: &StoreArguments,
) -> Result<String, Failure> {
    let blocked = |text: String| {
        Failure::new(Exit::Usage, text)
            .hint("an agent starts this with its event on standard input")
    };
    let mut input = String::new();
    let read = std::io::stdin().take(MOST_INPUT).read_to_string(&mut input);
    read.map_err(|error| blocked(format!("the event cannot be read: {error}")))?;
    let event = HookEvent::read(&input).map_err(blocked)?;
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        demand_store(store)?;
        crate::storage::complete(asking::ask(agent, &event, timeout, store))
    }));
    let answer = match asked {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => HookAnswer::Deny(not_asked(&error)),
        Err(_panicked) => HookAnswer::Deny("irq could not ask a person: it has a bug".to_owned()),
    };
    Ok(event.output(agent, &answer))
}

/// Why no person was asked, and what helps against it: the agent and its user read nothing else.
fn not_asked(error: &anyhow::Error) -> String {
    let mut text = format!("irq could not ask a person: {error:#}");
    let failure = error.downcast_ref::<Failure>();
    if let Some(hint) = failure.and_then(Failure::advice) {
        text.push_str("; hint: ");
        text.push_str(hint);
    }
    text
}
