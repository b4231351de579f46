//! `irq chat`: a conversation with one model.

mod budget;
mod command;
mod lines;
mod plain;
mod prompt;
mod raw_terminal;
mod record;
mod screen;
mod terminal;

use std::io::{self, IsTerminal};
use std::sync::Arc;

pub(crate) use budget::ChatBudget;
use jiff::Timestamp;
use llm::{ChatUsage, Conversation, ConversationConfig, Pace, TokenCount};
use routing_core::model::ModelError;
use routing_core::{StopMode, StopReason, StopSource};

use crate::arguments::{ChatArguments, Global};
use crate::exit::{Exit, Failure};
use crate::model::ModelChoice;
use crate::palette;

/// How fast the rehearsal speaks where somebody watches, in tokens a second.
const WATCHED_PACE: u32 = 40;

/// Talks with a model.
///
/// # Errors
///
/// Where something is wrong with the model's name or its server; nothing was sent then. On a terminal an
/// answer that fails is shown and the conversation goes on; elsewhere it is an error.
pub(crate) fn chat(arguments: &ChatArguments, global: Global) -> anyhow::Result<Exit> {
    let choice = ModelChoice::parse(&arguments.model, arguments.base_url.clone())?;
    let budget = ChatBudget::of(&arguments.budget, &arguments.model)?;
    let model = choice.open_chat(arguments.seed, pace(arguments), budget.clone())?;
    let conversation = Conversation::new(ConversationConfig {
        system: arguments.system.clone(),
        ..ConversationConfig::new(model)
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let on_terminal = io::stdin().is_terminal()
        && io::stdout().is_terminal()
        && !arguments.no_input
        && !arguments.json
        && !palette::is_dumb();
    let ended = if on_terminal {
        runtime.block_on(terminal::talk(conversation, budget, arguments, global))
    } else {
        runtime.block_on(lines::talk(conversation, arguments, global))
    };
    // A thread that reads the terminal cannot be joined.
    runtime.shutdown_background();
    ended
}

fn pace(arguments: &ChatArguments) -> Pace {
    let usual = if io::stdout().is_terminal() {
        WATCHED_PACE
    } else {
        0
    };
    Pace::from_tokens_per_second(arguments.pace.unwrap_or(usual))
}

/// A person wants the answer to end now.
fn now(message: &str) -> StopReason {
    StopReason {
        source: StopSource::User,
        mode: StopMode::Immediate,
        message: message.to_owned(),
        timestamp: Timestamp::now(),
    }
}

/// A model's failure with its exit code.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other failures have no exit code of their own"
)]
fn failure(error: &Arc<ModelError>) -> Failure {
    let (exit, hint) = match **error {
        ModelError::Unreachable { .. } => (
            Exit::Unreachable,
            Some("check --base-url and that the server runs"),
        ),
        ModelError::Unauthorized { .. } => (
            Exit::NotAuthorised,
            Some("check the key in the provider's environment variable"),
        ),
        _ => (Exit::Failure, None),
    };
    let failure = Failure::new(exit, crate::causes(&**error));
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// What a call cost, for people.
fn usage_text(usage: ChatUsage) -> String {
    let count = |count: TokenCount| match count {
        TokenCount::Unknown => "unknown".to_owned(),
        TokenCount::NothingSent => "0".to_owned(),
        TokenCount::Reported(tokens) => tokens.to_string(),
        TokenCount::Estimated { tokens, .. } => format!("about {tokens}"),
    };
    format!(
        "tokens: {} read, {} written",
        count(usage.input),
        count(usage.output)
    )
}
