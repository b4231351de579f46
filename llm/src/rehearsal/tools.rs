//! The tools that a rehearsal asks for: few, always the same ones, and each for a reason that it was given.
//!
//! An agent that has a part of the folder looks at it before it answers. Another runs what the goal has between backquotes,
//! if its request repeats that; a conversation what the last message has there. Nothing else is ever run.

use interrupt_router::model::{Message, ModelCall, Role, ToolOffer, ToolRequest};
use serde_json::{Value, json};

use super::words::{own_goal, part, quoted, said};

/// What a look searches for.
const UNFINISHED: &str = "TODO|FIXME";

/// How many of the files that were listed are read.
const MOST_READ: usize = 2;

/// What an agent asks for now; nothing if it answers.
pub(super) fn of_agent(call: &ModelCall) -> Vec<ToolRequest> {
    let is_answer = |it: &Message| it.role == Role::Assistant && it.tool_requests.is_empty();
    // Once is enough: what was asked for before is not asked for after an answer or its correction.
    if call.caller.correction > 0 || call.messages.iter().any(is_answer) {
        return Vec::new();
    }
    let wanted = match (part(&call.messages), rounds(&call.messages)) {
        (Some(part), 0) => look(part),
        (Some(_), 1) => listed_files(&call.messages),
        (None, 0) => {
            let commands = repeated_commands(&call.messages);
            commands
                .map(|command| named(command, &call.tools))
                .collect()
        }
        _ => Vec::new(),
    };
    requests(wanted, &call.messages, &call.tools)
}

/// What a conversation asks for now.
pub(super) fn of_conversation(messages: &[Message], offers: &[ToolOffer]) -> Vec<ToolRequest> {
    let last = messages.last().filter(|last| last.role == Role::User);
    let commands = last
        .into_iter()
        .flat_map(|last| between_backquotes(&last.text));
    let wanted = commands.map(|command| named(command, offers)).collect();
    requests(wanted, messages, offers)
}

/// What a conversation says once its tools have returned; `None` if none has.
pub(super) fn remark(messages: &[Message]) -> Option<String> {
    let results = messages.rsplit(|message| message.role != Role::Tool).next();
    let results = results.filter(|results| !results.is_empty())?;
    let said = results
        .iter()
        .map(|result| format!("\n\n{}", quoted(&result.text)));
    Some(format!(
        "I am the rehearsal model: I asked for what your message has in backquotes, and no model has read what it returned. \
         It was:{}",
        said.collect::<String>()
    ))
}

/// The wanted tools that are offered. The ids of a conversation are not repeated.
fn requests(
    wanted: Vec<(&str, Value)>,
    messages: &[Message],
    offers: &[ToolOffer],
) -> Vec<ToolRequest> {
    let round = rounds(messages);
    let offered = wanted
        .into_iter()
        .filter(|(name, _)| is_offered(name, offers));
    let request = |(index, (name, arguments)): (usize, (&str, Value))| {
        ToolRequest::new(format!("call_{round}_{index}"), name, arguments.to_string())
    };
    offered.enumerate().map(request).collect()
}

fn rounds(messages: &[Message]) -> usize {
    messages
        .iter()
        .filter(|it| !it.tool_requests.is_empty())
        .count()
}

fn is_offered(name: &str, offers: &[ToolOffer]) -> bool {
    offers.iter().any(|offer| offer.name == name)
}

/// A look at the agent's part of the folder; one in brackets is no folder.
fn look(part: &str) -> Vec<(&'static str, Value)> {
    let list = match part {
        part if part.starts_with('(') => json!({ "depth": 2 }),
        folder => json!({ "path": folder }),
    };
    vec![
        ("list_files", list),
        ("search_files", json!({ "pattern": UNFINISHED })),
    ]
}

/// The first of the files that were listed.
fn listed_files(messages: &[Message]) -> Vec<(&'static str, Value)> {
    let listed = messages.iter().find(|message| message.role == Role::Tool);
    let lines = listed.into_iter().flat_map(|message| message.text.lines());
    let files = lines
        .filter(|line| line.contains('.') && !line.contains([' ', '[']) && !line.ends_with('/'));
    files
        .take(MOST_READ)
        .map(|file| ("read_file", json!({ "path": file })))
        .collect()
}

/// What the run's own goal has between backquotes, as far as the last request repeats it there. What anything else says
/// between backquotes, a file or another agent, is none of it.
pub(super) fn repeated_commands(messages: &[Message]) -> impl Iterator<Item = &str> {
    let goal = own_goal(messages).unwrap_or_default();
    let last = said(messages).next_back().unwrap_or_default();
    between_backquotes(goal).filter(move |command| {
        let quoted = Value::from(format!("`{command}`")).to_string();
        last.contains(&quoted[1..quoted.len() - 1])
    })
}

/// What a text has between backquotes; after the last one, or before one that has no other, nothing is.
fn between_backquotes(text: &str) -> impl Iterator<Item = &str> {
    let pieces: Vec<&str> = text.split('`').collect();
    let closed = pieces.len().saturating_sub(1);
    let between = pieces.into_iter().take(closed).skip(1).step_by(2);
    between.filter(|command| !command.trim().is_empty())
}

/// A tool with its arguments, or a command for the shell.
fn named<'c>(command: &'c str, offers: &[ToolOffer]) -> (&'c str, Value) {
    let command = command.trim();
    let (name, rest) = command.split_once(' ').unwrap_or((command, "{}"));
    let arguments = serde_json::from_str::<Value>(rest).ok();
    match arguments.filter(|it| it.is_object() && is_offered(name, offers)) {
        Some(arguments) => (name, arguments),
        None => ("shell", json!({ "command": command })),
    }
}
