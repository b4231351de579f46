//! The tools that the rehearsal asks for: few, always the same ones, and each for a reason that it was given.
//!
//! An agent that has a part of the folder looks at it before it answers. Another runs what the goal has between backquotes,
//! where its request repeats that: a command, or a tool with its arguments. Nothing else is ever run.

use interrupt_router::model::{Message, ModelCall, Role, ToolOffer, ToolRequest};
use serde_json::{Value, json};

use super::heard::{self, Heard};

/// What a look searches for.
const UNFINISHED: &str = "TODO|FIXME";

/// How many of the files that were listed are read.
const MOST_READ: usize = 2;

/// What it asks for now; nothing where it answers.
pub(super) fn wanted(call: &ModelCall) -> Vec<ToolRequest> {
    let offers = Offers(&call.tools);
    let asks = |message: &&Message| !message.tool_requests.is_empty();
    let rounds = call.messages.iter().filter(asks).count();
    let answered =
        |message: &Message| message.role == Role::Assistant && message.tool_requests.is_empty();
    // Once is enough: what was asked for before is not asked for after an answer or its correction.
    if call.tools.is_empty() || call.caller.correction > 0 || call.messages.iter().any(answered) {
        return Vec::new();
    }
    let calls = match (Heard::of(&call.messages).part, rounds) {
        (Some(part), 0) => offers.look(&part),
        (Some(_), 1) => offers.read(&call.messages),
        (None, 0) => {
            let commands = heard::commands(&call.messages);
            commands.iter().filter_map(|it| offers.named(it)).collect()
        }
        _ => Vec::new(),
    };
    let numbered = calls.into_iter().enumerate();
    numbered
        .map(|(index, (tool, arguments))| {
            let id = format!("call_{rounds}_{index}");
            ToolRequest::new(id, tool, arguments.to_string())
        })
        .collect()
}

struct Offers<'a>(&'a [ToolOffer]);

impl Offers<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|offer| offer.name == name)
    }

    fn if_there(&self, name: &str, arguments: Value) -> Option<(String, Value)> {
        self.has(name).then(|| (name.to_owned(), arguments))
    }

    /// A look at the agent's part of the folder; one in brackets is no folder.
    fn look(&self, part: &str) -> Vec<(String, Value)> {
        let list = match part {
            part if part.starts_with('(') => json!({ "depth": 2 }),
            folder => json!({ "path": folder }),
        };
        let list = self.if_there("list_files", list);
        let search = self.if_there("search_files", json!({ "pattern": UNFINISHED }));
        list.into_iter().chain(search).collect()
    }

    /// The first of the files that were listed.
    fn read(&self, messages: &[Message]) -> Vec<(String, Value)> {
        let listed = messages.iter().find(|message| message.role == Role::Tool);
        let lines = listed.map(|message| message.text.lines());
        let files = lines.into_iter().flatten().filter(|line| {
            let is_path = line.contains('.') && !line.contains(' ') && !line.starts_with('[');
            is_path && !line.ends_with('/')
        });
        files
            .take(MOST_READ)
            .filter_map(|file| self.if_there("read_file", json!({ "path": file })))
            .collect()
    }

    /// A tool with its arguments, or a command for the shell.
    fn named(&self, command: &str) -> Option<(String, Value)> {
        let command = command.trim();
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        let arguments = serde_json::from_str::<Value>(rest).ok();
        match arguments.filter(|arguments| arguments.is_object() && self.has(name)) {
            Some(arguments) => Some((name.to_owned(), arguments)),
            None if command.is_empty() => None,
            None => self.if_there("shell", json!({ "command": command })),
        }
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::ToolOffer;
    use serde_json::json;

    use super::Offers;

    fn offers(names: &[&str]) -> Vec<ToolOffer> {
        let offers = names.iter().map(|name| ToolOffer {
            name: (*name).to_owned(),
            description: String::new(),
            arguments: json!({}),
        });
        offers.collect()
    }

    #[test]
    fn a_command_is_a_tool_with_its_arguments_or_one_for_the_shell() {
        let offers = offers(&["shell", "write_file"]);
        let named = |command| Offers(&offers).named(command);
        let shell = ("shell".to_owned(), json!({"command": "make test"}));
        assert_eq!(named("make test"), Some(shell));
        let written = json!({"path": "a", "content": "b"});
        let tool = ("write_file".to_owned(), written.clone());
        assert_eq!(named(&format!("write_file {written}")), Some(tool));
        assert_eq!(Offers(&[]).named("ls"), None);
    }
}
