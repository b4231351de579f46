//! The tools that the rehearsal asks for: few, always the same ones, and each for a reason that it was given.
//!
//! An agent that has a part of the folder looks at it before it answers. Another runs what its task names between
//! backquotes: a command, or a tool with its arguments. Nothing else is ever run.

use routing_core::model::{Message, ModelCall, Role, ToolOffer, ToolRequest};
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
        (None, 0) => heard::task(&call.messages).map_or_else(Vec::new, |task| offers.named(&task)),
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

    /// What a task names between backquotes.
    fn named(&self, task: &str) -> Vec<(String, Value)> {
        let quoted = task.split('`').skip(1).step_by(2);
        quoted
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .filter_map(|text| {
                let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
                let arguments = serde_json::from_str::<Value>(rest).ok();
                match arguments.filter(|arguments| arguments.is_object() && self.has(name)) {
                    Some(arguments) => Some((name.to_owned(), arguments)),
                    None => self.if_there("shell", json!({ "command": text })),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use routing_core::model::ToolOffer;
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
    fn what_a_task_names_between_backquotes_is_run_and_nothing_else() {
        let offers = offers(&["shell", "write_file"]);
        let named = Offers(&offers)
            .named("Run `make test` and `write_file {\"path\":\"a\",\"content\":\"b\"}` please");
        assert_eq!(
            named,
            [
                ("shell".to_owned(), json!({"command": "make test"})),
                (
                    "write_file".to_owned(),
                    json!({"path": "a", "content": "b"})
                ),
            ]
        );
        assert!(Offers(&offers).named("Describe this project").is_empty());
        assert!(Offers(&[]).named("Run `ls`").is_empty());
    }
}
