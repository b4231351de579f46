//! `irq chat`: a conversation with one model.

mod command;
mod happening;
mod lines;
mod plain;
mod prompt;
mod raw_terminal;
mod record;
mod screen;
mod shown_question;
mod terminal;
mod tool_talk;
mod tools;
mod width;

use std::io::{self, IsTerminal};
use std::sync::Arc;

use interrupt_router::model::{ModelError, TokenUsage, ToolRequest};
use interrupt_router::{StopMode, StopReason, StopSource};
use jiff::Timestamp;
use llm::{Conversation, ConversationConfig, ConversationTools, Pace, RehearsalConfig, ToolResult};

use crate::arguments::{ChatArguments, Global, StoreArguments};
use crate::exit::{Exit, Failure};
use crate::model::{Manner, ModelChoice, ModelTrouble};
use crate::palette;
use crate::spending::{RefusedCallSays, Spending};
use crate::terminal_output::is_of_closed_terminal;
use tools::ToolControls;

/// The most characters of a tool's arguments that are shown while it runs.
const LONGEST_ARGUMENTS: usize = 200;

/// How fast the rehearsal speaks when a person watches, in tokens a second.
const WATCHED_PACE: u32 = 40;

/// Talks with a model.
///
/// # Errors
///
/// If the model's name or its server is wrong; nothing was sent then. On a terminal an answer that fails is shown and the
/// conversation goes on; elsewhere it is an error.
pub(crate) fn chat(
    arguments: &ChatArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let choice = ModelChoice::parse(&arguments.model, arguments.base_url.clone())?;
    let spending = Spending::of(&arguments.budget)?;
    let manner = manner(arguments, store);
    let rehearsal = RehearsalConfig {
        seed: arguments.seed,
        pace: pace(arguments),
        ..RehearsalConfig::default()
    };
    let opened = choice.open(rehearsal, &manner)?;
    let budget = spending.map(|spending| spending.budget(&opened, &[], Arc::new(RefusedCallSays)));
    let model = opened.paid(budget.transpose()?.as_ref())?;
    let on_terminal = io::stdin().is_terminal()
        && io::stdout().is_terminal()
        && !arguments.no_input
        && !arguments.json
        && !palette::is_dumb();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let (tools, questions) = runtime.block_on(tools::open(arguments, on_terminal))?;
    let executor = tools.executor.clone();
    let asked = ToolControls {
        questions,
        controller: executor
            .as_ref()
            .map(|executor| executor.controller().clone()),
    };
    let conversation = Conversation::new(ConversationConfig {
        system: arguments.system.clone(),
        tools: executor.map(|executor| Arc::new(executor) as Arc<dyn ConversationTools>),
        ..ConversationConfig::new(model)
    });
    let ended = if on_terminal {
        runtime.block_on(terminal::talk(conversation, asked, global))
    } else {
        runtime.block_on(lines::talk(conversation, arguments, global))
    };
    runtime.block_on(tools.close());
    // A thread that reads the terminal cannot be joined.
    runtime.shutdown_background();
    match ended {
        // The terminal is closed, so the error could not be read either.
        Err(error) if is_unread(&error) => Ok(Exit::HungUp),
        ended => ended,
    }
}

/// Whether something could not be written because the terminal was closed.
fn is_unread(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(is_of_closed_terminal)
}

/// How the server is spoken to.
fn manner(arguments: &ChatArguments, store: &StoreArguments) -> Manner {
    Manner {
        ca_certificate: store.ca_certificate.clone(),
        background: arguments.background,
        tools: arguments.tools.is_some(),
    }
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
fn failure(error: &Arc<ModelError>) -> Failure {
    let exit = ModelTrouble::of(error).map_or(Exit::Failure, ModelTrouble::exit);
    Failure::new(exit, crate::causes(&**error)).hint(llm::hint(error))
}

/// What a call cost as far as the provider said, for people.
fn usage_text(usage: TokenUsage) -> String {
    let count =
        |said: Option<u64>| said.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
    format!(
        "tokens: {} read, {} written",
        count(usage.input),
        count(usage.output)
    )
}

/// What a tool is asked to do, on one line.
fn tool_line(request: &ToolRequest) -> String {
    let arguments: String = request.arguments.chars().take(LONGEST_ARGUMENTS).collect();
    let more = if arguments.len() < request.arguments.len() {
        "\u{2026}"
    } else {
        ""
    };
    format!("tool {}: {arguments}{more}", request.name)
}

/// The result of a tool on one line, in the standard words after an interrupt.
fn ended_line(request: &ToolRequest, result: &ToolResult, was_stopped: bool) -> String {
    if was_stopped {
        return format!("{} ({}): {}", request.name, request.id, result.summary);
    }
    let first = result.text.lines().next().unwrap_or_default();
    let lines = result.text.lines().count();
    let more = match lines {
        0 | 1 => String::new(),
        _ => format!(" (+{} lines)", lines - 1),
    };
    let note = result.may_still_run.as_ref();
    let note = note.map(|note| format!(" [{note}]")).unwrap_or_default();
    format!(
        "tool {} {}: {first}{more}{note}",
        request.name,
        result.state.word()
    )
}
